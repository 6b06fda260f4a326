import { type Context, createContext, Script } from "node:vm";
import { SallyportError } from "../core/error.ts";

/**
 * The time limit of a search. Patterns come from models, and one that backtracks excessively must not block the
 * process.
 */
const LONGEST_MS = 250;
/**
 * The maximum number of attempts. A search that timed out is retried if this process got little CPU time, as on a busy
 * machine.
 */
const ATTEMPTS = 3;

/** V8 can interrupt a search only in a separate context. */
let context: Context | null = null;

const SEARCH = new Script("pattern.exec(text)");
const FILTER = new Script(`(function (pattern, text) {
  let kept = "";
  for (let at = 0; at < text.length; ) {
    const feed = text.indexOf("\\n", at);
    const next = feed === -1 ? text.length : feed + 1;
    if (pattern.test(text.slice(at, feed === -1 ? next : feed))) kept += text.slice(at, next);
    at = next;
  }
  return kept;
})(pattern, text)`);

function runWithTimeout<T>(script: Script, pattern: RegExp, text: string, parameter: string): T {
  context ??= createContext({});
  Object.assign(context, { pattern, text });
  try {
    for (let attempt = 1; ; attempt++) {
      const before = process.cpuUsage();
      try {
        return script.runInContext(context, { timeout: LONGEST_MS }) as T;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
        const { user, system } = process.cpuUsage(before);
        if (attempt < ATTEMPTS && (user + system) / 1000 < LONGEST_MS / 2) continue;
        const hint = "Use a simpler pattern without nested repetition.";
        throw badPattern(parameter, pattern.source, "takes too long to match this output", hint);
      }
    }
  } finally {
    Object.assign(context, { pattern: null, text: "" });
  }
}

/** Runs `pattern.exec(text)` with a time limit. */
export function search(pattern: RegExp, text: string): RegExpExecArray | null {
  return runWithTimeout(SEARCH, pattern, text, "pattern");
}

/** Returns the lines that match the pattern. */
export function matchingLines(text: string, pattern: RegExp): string {
  return runWithTimeout(FILTER, pattern, text, "filter");
}

/** Compiles a pattern from a request. `parameter` is named in the error when it is invalid. */
export function regularExpression(pattern: string, parameter: string, flags?: string): RegExp {
  try {
    return new RegExp(pattern, flags);
  } catch (error) {
    // V8's message is "Invalid regular expression: /PATTERN/FLAGS: REASON".
    const reason = (error as Error).message.split(": ").at(-1)?.toLowerCase() ?? "";
    const why = `is not a valid regular expression (${reason})`;
    throw badPattern(parameter, pattern, why, "Escape special characters with `\\`.");
  }
}

function badPattern(parameter: string, pattern: string, why: string, hint: string): SallyportError {
  const shown = JSON.stringify(pattern.slice(0, 100));
  return new SallyportError("InvalidRequest", `\`${parameter}\` ${why}; received ${shown}.`, [
    { action: "fix_pattern", hint },
  ]);
}
