import type { Command } from "../../command.ts";
import { printOneOrMany } from "../../io.ts";
import { forEachSession } from "./session-arguments.ts";

export const rm: Command = {
  name: "rm",
  summary: "Remove sessions and their logs",
  usage: "sallyport rm [OPTIONS] SESSION...",
  description: "Removes finished sessions. The audit log keeps its entries about them.",
  options: { force: { type: "boolean", short: "f" } },
  help: { force: "Kill running sessions first", json: "Print the removed sessions as JSON" },
  examples: [
    ["Remove a finished session", "sallyport rm web"],
    ["Kill a running session and remove it", "sallyport rm -f web"],
    ["Kill and remove all sessions", "sallyport rm -f $(sallyport ps -aq)"],
  ],
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
