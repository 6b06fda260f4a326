import type { Command } from "../../command.ts";
import { printOneOrMany } from "../../io.ts";
import { forEachSession } from "./session-arguments.ts";

export const rm: Command = {
  name: "rm",
  summary: "Forget finished sessions and their logs",
  usage: "sallyport rm [OPTIONS] SESSION…",
  options: { force: { type: "boolean", short: "f" } },
  help: { force: "kill those still running first", json: "print the ids that were removed as JSON" },
  examples: ["sallyport rm web", "sallyport rm -f web", "sallyport rm $(sallyport ps -aq)"],
  run: async (invocation) => {
    const force = invocation.values.force === true;
    const removed: { id: string; name: string }[] = [];
    const code = await forEachSession(invocation, async (session) => {
      const { id, name } = session;
      await session.remove({ force });
      removed.push({ id, name });
      return 0;
    });
    if (invocation.values.json) printOneOrMany(removed, invocation.io);
    return code;
  },
};
