import type { SessionInfo } from "../../../core/session.ts";
import { sessionDetails } from "../../../session/details.ts";
import { alignedPairs, tabbedPairs } from "../../../text/table.ts";
import type { Command, Io } from "../../command.ts";
import { printOneOrMany } from "../../io.ts";
import { CLI_WORDING } from "../../next-steps.ts";
import { forEachSession } from "./session-arguments.ts";

export const inspect: Command = {
  name: "inspect",
  summary: "Show detailed information about sessions",
  usage: "sallyport inspect [OPTIONS] SESSION...",
  options: {},
  help: { json: "Print a JSON object, or an array for several sessions" },
  examples: [
    ["Show a session", "sallyport inspect web"],
    ["Print the resource usage of a session", "sallyport inspect --json web | jq .resourceUsage"],
  ],
  run: async (invocation) => {
    const found: SessionInfo[] = [];
    const code = await forEachSession(invocation, async (session) => {
      found.push(session.info());
      return 0;
    });
    if (invocation.values.json) printOneOrMany(found, invocation.io);
    else invocation.io.out(found.map((info) => details(info, invocation.io)).join("\n"));
    return code;
  },
};

function details(info: SessionInfo, io: Io): string {
  const pairs = sessionDetails(info, CLI_WORDING);
  return io.isTTY.stdout ? alignedPairs(pairs, io.columns) : tabbedPairs(pairs);
}
