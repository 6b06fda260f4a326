/**
 * From a text to facts: every command it would run, and what cannot be known about it.
 *
 * 1. confusable.ts    characters that show another command than the one that runs
 * 2. parse.ts         syntax, within caps
 * 3. walk/visit.ts    the compound forms, in the state they would run in
 * 4. expand/          words become values
 * 5. walk/run.ts      each command: what it starts, deletes, writes; commands/ has a model of each
 */
import type { Analysis } from "../core/facts.ts";
import { invisibleCharacters } from "./confusable.ts";
import { literal } from "./expand/field.ts";
import type { InspectContext } from "./lookup.ts";
import { quoteWord } from "./quote.ts";
import { runArgv } from "./walk/run.ts";
import { rootOrigin } from "./walk/state.ts";
import { visitFunction, visitNested, visitText } from "./walk/visit.ts";
import type { Walk } from "./walk/walk.ts";
import { finish, isolated, markOverLimit, markUnknown, startWalk } from "./walk/walk.ts";

/** Analyses text for `bash -c`. Never throws: what it cannot understand is unanalyzable. */
export function inspect(text: string, context: InspectContext): Analysis {
  const walk = start(text, context);
  guarded(walk, () => {
    for (const unknown of invisibleCharacters(text)) markUnknown(walk, unknown);
    // Where a carriage return ends the line on another system, the rest of it is a command of its own.
    if (text.includes("\r")) isolated(walk, () => visitText(walk, text.replaceAll("\r", "\n"), rootOrigin(text)));
    visitText(walk, text, rootOrigin(text));
  });
  return analysis(walk);
}

/** Analyses an argv that is run directly: nothing in it is expanded, but `env`, `bash -c` and the like still run things. */
export function inspectArgv(argv: readonly string[], context: InspectContext): Analysis {
  const words = argv.map(quoteWord);
  const text = words.join(" ");
  const walk = start(text, context);
  guarded(walk, () => {
    for (const unknown of invisibleCharacters(text)) markUnknown(walk, unknown);
    const span = { start: 0, end: text.length };
    let at = 0;
    const fields = argv.map((value, index) => {
      const source = words[index] ?? "";
      const start = at;
      at += source.length + 1;
      return literal(value, source, { start, end: start + source.length });
    });
    if (fields.length === 0) markUnknown(walk, { span, why: "there is no command" });
    runArgv(walk, { argv: fields, assignments: [], redirects: null, origin: rootOrigin(text), span, external: true });
  });
  return analysis(walk);
}

function start(text: string, context: InspectContext): Walk {
  return startWalk(text, context, { text: visitText, nested: visitNested, functionCall: visitFunction });
}

function guarded(walk: Walk, start: () => void): void {
  try {
    start();
    finish(walk);
  } catch (error) {
    // Fail closed: whatever the input did to the analysis, the answer is "unanalyzable".
    const why = `the analysis failed: ${error instanceof Error ? error.message : String(error)}`;
    markOverLimit(walk, { start: 0, end: walk.text.length }, why);
  }
}

function analysis(walk: Walk): Analysis {
  const { text, unknowns, commands } = walk;
  return { text, analyzable: unknowns.length === 0, unknowns, commands };
}

export type { InspectContext, Lookup } from "./lookup.ts";
