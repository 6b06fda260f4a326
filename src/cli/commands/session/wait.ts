import type { SessionInfo, WaitConditions, WaitOutcome } from "../../../core/session.ts";
import { regularExpression } from "../../../text/regex.ts";
import { type Command, type Invocation, UsageError } from "../../command.ts";
import { EXIT_TIMEOUT, exitCodeOf } from "../../exit-code.ts";
import { printOneOrMany } from "../../io.ts";
import { countOption, durationOption, textOption } from "../../options.ts";
import { forEachSession } from "./session-arguments.ts";

export const wait: Command = {
  name: "wait",
  summary: "Wait for sessions to end and pass on the exit code",
  usage: "sallyport wait [OPTIONS] SESSION…",
  options: {
    input: { type: "boolean" },
    pattern: { type: "string" },
    quiet: { type: "string" },
    timeout: { type: "string" },
    offset: { type: "string" },
  },
  help: {
    input: "or until the program on its terminal waits for input",
    pattern: "RE: or until this regular expression is found in what it writes from now on",
    quiet: "DUR: or until it has written nothing for so long",
    timeout: "DUR: wait no longer than this",
    offset: "BYTE: look for the pattern from this byte of its output on; 0 is all of it",
    json: "print what became of them as JSON",
  },
  examples: [
    "sallyport wait web",
    "sallyport wait 019a8b3c-7d21 && echo fine",
    "sallyport wait --input --timeout 10s repl",
    "sallyport wait --offset 0 --pattern 'listening on' web",
  ],
  notes:
    "With several sessions the exit code is the last one's. With something to wait for besides the end, what came first is printed (exit, input, pattern, quiet or timeout), and the exit code is 0 for any but exit, which passes on the session's, and timeout, which is 124.",
  run: async (invocation) => {
    const conditions = conditionsOf(invocation.values);
    const seen: (SessionInfo | WaitOutcome)[] = [];
    const code = await forEachSession(invocation, async (session) => {
      if (!conditions) {
        const info = await session.wait();
        seen.push(info);
        return exitCodeOf(info);
      }
      const outcome = await session.waitFor(conditions);
      seen.push(outcome);
      if (!invocation.values.json) invocation.io.out(`${outcome.reason}\n`);
      if (outcome.reason === "exit") return exitCodeOf(outcome.info);
      return outcome.reason === "timeout" ? EXIT_TIMEOUT : 0;
    });
    if (invocation.values.json) printOneOrMany(seen, invocation.io);
    return code;
  },
};

/** Null: only the end is waited for, however long it takes. */
function conditionsOf(values: Invocation["values"]): WaitConditions | null {
  const pattern = textOption(values, "pattern");
  const offset = countOption(values, "offset");
  const quietMs = durationOption(values, "quiet");
  const timeoutMs = durationOption(values, "timeout");
  if (offset !== undefined && pattern === undefined) throw new UsageError("`--offset` needs a `--pattern`");
  if (pattern === undefined && quietMs === undefined && timeoutMs === undefined && !values.input) return null;
  return {
    ...(values.input ? { input: true } : {}),
    ...(pattern === undefined ? {} : { pattern: regularExpression(pattern, "--pattern") }),
    offset,
    quietMs,
    timeoutMs,
  };
}
