import { LOOKS } from "../annotations.ts";
import { tool } from "../define.ts";
import { IsBlockedInput, IsBlockedResult } from "./schema.ts";
import { blockReason } from "./text.ts";

export const isBlocked = tool({
  name: "is_blocked",
  title: "Check a command",
  description:
    "Whether the safety rules would forbid a command, judged as shell text, without running it, and why. If it is blocked, report the reason and propose something safe; do not rephrase it to get past the rules.",
  input: IsBlockedInput,
  output: IsBlockedResult,
  annotations: LOOKS,
  operation: "list",
  async handle({ command }, { gateway }) {
    const reason = blockReason(gateway.check(command));
    return { structured: { blocked: reason !== null, block_reason: reason } };
  },
});
