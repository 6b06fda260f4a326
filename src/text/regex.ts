import { type Context, createContext, Script } from "node:vm";
import { SallyportError } from "../core/error.ts";

/** Patterns come from models: one that backtracks for ever must not stop everybody else. */
const LONGEST_MS = 250;
/** On a machine so busy that we hardly ran in that time it is not the pattern's fault, and it is tried again. */
const ATTEMPTS = 3;

/** V8 stops a search only when it runs in a context of its own. */
let context: Context | null = null;

const SEARCH = new Script("pattern.exec(text)");
const FILTER = new Script("text.split(/(?<=\\n)/).filter((line) => pattern.test(line.replace(/\\n$/, ''))).join('')");

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
        const hint = "Use a simpler pattern, without nested repetition.";
        throw badPattern(parameter, pattern.source, "takes too long on this output", hint);
      }
    }
  } finally {
    Object.assign(context, { pattern: null, text: "" });
  }
}

/** As `pattern.exec`, but not for ever. */
export function search(pattern: RegExp, text: string): RegExpExecArray | null {
  return runWithTimeout(SEARCH, pattern, text, "pattern");
}

/** The lines that match. */
export function matchingLines(text: string, pattern: string): string {
  return runWithTimeout(FILTER, regularExpression(pattern, "filter"), text, "filter");
}

/** A model's own; an invalid one is reported. */
export function regularExpression(pattern: string, parameter: string): RegExp {
  try {
    return new RegExp(pattern);
  } catch (error) {
    const why = `is no regular expression (${(error as Error).message})`;
    throw badPattern(parameter, pattern, why, "Escape special characters with \\.");
  }
}

function badPattern(parameter: string, pattern: string, why: string, hint: string): SallyportError {
  const shown = JSON.stringify(pattern.slice(0, 100));
  return new SallyportError("InvalidRequest", `\`${parameter}\`: ${shown} ${why}.`, [{ action: "fix_pattern", hint }]);
}
