import { runInNewContext } from "node:vm";
import { SallyportError } from "../contract/error.ts";

/** A pattern that backtracks for ever must not stop everybody else. */
const LONGEST_MS = 250;

/** The lines that match. The pattern comes from a model: it is given its time, and a bad one is told. */
export function matchingLines(text: string, pattern: string): string {
  const filter = regularExpression(pattern, "filter");
  try {
    return runInNewContext(
      "text.split(/(?<=\\n)/).filter((line) => filter.test(line.replace(/\\n$/, ''))).join('')",
      { text, filter },
      { timeout: LONGEST_MS },
    ) as string;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
    throw badPattern(
      "filter",
      pattern,
      "takes too long on this output",
      "Use a simpler pattern, without nested repetition.",
    );
  }
}

/** A model's own; a bad one is told. */
export function regularExpression(pattern: string, parameter: string): RegExp {
  try {
    return new RegExp(pattern);
  } catch (error) {
    throw badPattern(
      parameter,
      pattern,
      `is no regular expression (${(error as Error).message})`,
      "Escape special characters with \\.",
    );
  }
}

function badPattern(parameter: string, pattern: string, why: string, hint: string): SallyportError {
  const shown = JSON.stringify(pattern.slice(0, 100));
  return new SallyportError("InvalidRequest", `\`${parameter}\`: ${shown} ${why}.`, [{ action: "fix_pattern", hint }]);
}
