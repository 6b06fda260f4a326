import type { SessionInfo } from "../../../contract/session.ts";
import type { Command } from "../command.ts";
import { eachSession } from "../each-session.ts";
import { exitCodeOf } from "../exit-code.ts";
import { printOneOrMany } from "../print-json.ts";

export const wait: Command = {
  name: "wait",
  summary: "Wait for sessions to end and pass on the exit code",
  usage: "sallyport wait [OPTIONS] SESSION…",
  options: {},
  help: { json: "print what became of them as JSON" },
  examples: ["sallyport wait web", "sallyport wait 019a8b3c-7d21 && echo fine"],
  notes: "With several sessions the exit code is the last one's.",
  run: async (invocation) => {
    const ended: SessionInfo[] = [];
    const code = await eachSession(invocation, async (session) => {
      const info = await session.wait();
      ended.push(info);
      return exitCodeOf(info);
    });
    if (invocation.values.json) printOneOrMany(ended, invocation.io);
    return code;
  },
};
