import type { KillOptions } from "../../../core/gateway.ts";
import type { SessionInfo } from "../../../core/session.ts";
import type { Command } from "../../command.ts";
import { printOneOrMany } from "../../io.ts";
import { durationOption, signalOption } from "../../options.ts";
import { forEachSession } from "./session-arguments.ts";

export const kill: Command = {
  name: "kill",
  summary: "Send a signal to sessions and their child processes",
  usage: "sallyport kill [OPTIONS] SESSION...",
  description: `
    Sends SIGTERM to all processes of a session, and SIGKILL to those that are still running after 5 seconds. With
    --signal, sends only that signal.`,
  options: { signal: { type: "string", short: "s" }, "force-after": { type: "string" } },
  help: {
    signal: "SIG: Signal to send, by name or number (default: TERM)",
    "force-after": "DUR: Send SIGKILL after this time (default: 5s, or never if --signal is used)",
    json: "Print the sessions as JSON",
  },
  examples: [
    ["Stop a session", "sallyport kill web"],
    ["Kill a session immediately", "sallyport kill -s KILL web"],
    ["Stop all running sessions, with 30 seconds to shut down", "sallyport kill --force-after 30s $(sallyport ps -q)"],
  ],
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
