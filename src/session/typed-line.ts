import type { Reason } from "../core/verdict.ts";

/** Why a line that was typed is not known, although all its keys are. */
export function unknowableLine(): Reason {
  return {
    rule: "unanalyzable",
    message: "Nobody can know before it runs: keys that edit the line, complete it or take it from the history.",
    span: null,
    suggestion: "Type the whole command, without Tab, arrows or control keys.",
  };
}

/** Of what is typed into a command, so much is kept in the audit. */
const MOST_NOTED = 4096;

/** What the audit says was typed. What its reader could not see either is not told. */
export function typedSummary(bytes: Uint8Array, hidden: boolean): string {
  if (hidden) return "(not shown on the terminal, so not here either)";
  return Buffer.from(bytes.subarray(0, MOST_NOTED)).toString();
}
