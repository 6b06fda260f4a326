import type { SessionInfo, WaitConditions, WaitOutcome } from "../../../core/session.ts";
import { regularExpression } from "../../../text/regex.ts";
import { type Command, type Invocation, UsageError } from "../../command.ts";
import { EXIT_TIMEOUT, exitCodeOf } from "../../exit-code.ts";
import { printOneOrMany } from "../../io.ts";
import { reportOutcome } from "../../notes.ts";
import { countOption, durationOption, textOption } from "../../options.ts";
import { forEachSession } from "./session-arguments.ts";

export const wait: Command = {
  name: "wait",
  summary: "Wait for sessions to end, and exit with the last exit code",
  usage: "sallyport wait [OPTIONS] SESSION...",
  description: `
    Waits for each session in turn and exits with the exit code of the last one. With --input, --pattern, --quiet or
    --timeout, waits until the first of these conditions is met or the session ends, and prints the reason: exit, input,
    pattern, quiet or timeout.`,
  options: {
    timeout: { type: "string" },
    pattern: { type: "string" },
    offset: { type: "string" },
    input: { type: "boolean" },
    quiet: { type: "string" },
  },
  help: {
    timeout: "DUR: Stop waiting after this time",
    pattern: "REGEX: Wait until the output matches this regular expression",
    offset:
      "BYTE: Start searching for the pattern at this byte of the output; 0 searches all output (default: only new output)",
    input: "Wait until the program on the terminal is waiting for input",
    quiet: "DUR: Wait until there has been no output for this time",
    json: "Print the sessions, or which condition was met, as JSON",
  },
  sections: {
    "Exit status": [
      ["0", "A condition other than the timeout was met"],
      ["124", "The timeout was reached"],
      ["other", "The session ended; same exit status as `sallyport run`"],
    ],
  },
  examples: [
    ["Wait for a session to end", "sallyport wait web"],
    [
      "Wait until a server is ready, including output it has already written",
      "sallyport wait --offset 0 --pattern 'listening on' web",
    ],
    ["Wait up to 10 seconds for a prompt", "sallyport wait --input --timeout 10s repl"],
  ],
  run: async (invocation) => {
    const conditions = conditionsOf(invocation.values);
    const seen: (SessionInfo | WaitOutcome)[] = [];
    const code = await forEachSession(invocation, async (session) => {
      if (!conditions) {
        const info = await session.wait();
        seen.push(info);
        // The exit code alone does not tell why the command did not run or what became of it.
        if (info.exitCode === null && info.signal === null && !invocation.values.json)
          reportOutcome(info, invocation.io);
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

/** Returns the conditions given as options, or null when there are none, so that only the end of the session counts. */
function conditionsOf(values: Invocation["values"]): WaitConditions | null {
  const pattern = textOption(values, "pattern");
  const offset = countOption(values, "offset");
  const quietMs = durationOption(values, "quiet");
  const timeoutMs = durationOption(values, "timeout");
  if (offset !== undefined && pattern === undefined) throw new UsageError("`--offset` requires `--pattern`");
  if (pattern === undefined && quietMs === undefined && timeoutMs === undefined && !values.input) return null;
  return {
    ...(values.input ? { input: true } : {}),
    ...(pattern === undefined ? {} : { pattern: regularExpression(pattern, "--pattern") }),
    offset,
    quietMs,
    timeoutMs,
  };
}
