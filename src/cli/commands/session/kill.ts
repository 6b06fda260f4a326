import type { KillOptions } from "../../../core/gateway.ts";
import type { SessionInfo } from "../../../core/session.ts";
import type { Command } from "../../command.ts";
import { printOneOrMany } from "../../io.ts";
import { durationOption, signalOption } from "../../options.ts";
import { forEachSession } from "./session-arguments.ts";

export const kill: Command = {
  name: "kill",
  summary: "Signal a session and everything it started",
  usage: "sallyport kill [OPTIONS] SESSION…",
  options: { signal: { type: "string", short: "s" }, "force-after": { type: "string" } },
  help: {
    signal: "SIG: send this signal [TERM]",
    "force-after": "DUR: SIGKILL what is still alive after this long [5s; never with -s]",
    json: "print the sessions as JSON afterwards",
  },
  examples: ["sallyport kill web", "sallyport kill -s KILL web", "sallyport kill --force-after 30s $(sallyport ps -q)"],
  run: async (invocation) => {
    const signal = signalOption(invocation.values, "signal");
    const graceMs = durationOption(invocation.values, "force-after");
    const options: KillOptions = signal ? { signal, graceMs: graceMs ?? null } : { graceMs };
    const killed: SessionInfo[] = [];
    const code = await forEachSession(invocation, async (session) => {
      killed.push(await session.kill(options));
      return 0;
    });
    if (invocation.values.json) printOneOrMany(killed, invocation.io);
    return code;
  },
};
