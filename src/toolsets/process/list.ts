import { MODEL_BYTES } from "../../core/output-limits.ts";
import type { Status } from "../../core/result.ts";
import { LOOKS } from "../annotations.ts";
import { tool } from "../define.ts";
import { noteOf } from "../note-of.ts";
import { withinBytes } from "../within-bytes.ts";
import { ListInput, ListResult } from "./schema.ts";
import { invalidFilter, processEntry } from "./text.ts";

/** What never ran is no process. */
const STATUSES: Record<string, Status[]> = {
  running: ["running"],
  completed: ["completed"],
  killed: ["killed", "lost"],
  timed_out: ["timed_out"],
  all: ["running", "completed", "killed", "lost", "timed_out"],
};

export const processList = tool({
  name: "process.list",
  title: "List processes",
  description:
    "Processes of this agent, the most recent first: running, completed, killed and timed out, with exit code, times and resource usage. total counts all that match; narrow it with state_filter.",
  input: ListInput,
  output: ListResult,
  annotations: LOOKS,
  operation: "list",
  faults: { state_filter: invalidFilter },
  async handle({ state_filter, limit }, { gateway }) {
    const status = STATUSES[state_filter] ?? [];
    const { sessions, total, warnings } = await gateway.sessions({ status, limit });
    const entries = sessions.map((info) => {
      const ownAndLive = info.gateway === null && info.status === "running";
      return processEntry(info, ownAndLive ? gateway.session(info.id).usage().usage : info.resourceUsage);
    });
    return { structured: { processes: withinBytes(entries, MODEL_BYTES), total, ...noteOf(warnings) } };
  },
});
