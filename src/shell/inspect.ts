/**
 * Turns command text into facts: every command it would run, and the parts that cannot be known.
 *
 * 1. confusable.ts    characters that make a command look different from the one that runs
 * 2. parse.ts         syntax, within limits
 * 3. walk/visit.ts    compound commands, in the state in which they would run
 * 4. expand/          words to values
 * 5. walk/run.ts      each command: what it starts, deletes and writes; commands/ has the models
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

/** Shell text, or a program with its arguments, which runs without a shell. */
export interface Command {
  command: string;
  args?: readonly string[] | null;
}

/** Analyzes text for `bash -c`. Never throws: text that cannot be understood is unanalyzable. */
export function inspect(text: string, context: InspectContext): Analysis {
  return analysisOf(walkCommand({ command: text }, context));
}

/**
 * Analyzes an argument vector that runs without a shell. Nothing in it is expanded, but programs such as `env` and
 * `bash -c` run other commands.
 */
export function inspectArgv(argv: readonly string[], context: InspectContext): Analysis {
  return analysisOf(withFiles(context, (given) => walkArgv(argv, given, false)));
}

/** Walks a command. With `spansInInput`, the spans of commands in standard input are positions in that input. */
export function walkCommand({ command, args }: Command, context: InspectContext, spansInInput = false): Walk {
  return withFiles(context, (given) =>
    args ? walkArgv([command, ...args], given, spansInInput) : walkText(command, given, spansInInput),
  );
}

/**
 * Walks a command and the files that it runs as code. A file that exceeds a limit is unanalyzable like a file that is
 * not read: the limits require approval only for text in the request itself.
 */
function withFiles(context: InspectContext, walkIn: (context: InspectContext) => Walk): Walk {
  const walk = walkIn(context);
  if (walk.filesRead === 0 || !walk.unknowns.some(({ over }) => over)) return walk;
  const { readFile: _, ...withoutFiles } = context;
  const unknowns = [...walkIn(withoutFiles).unknowns, ...walk.unknowns.filter(({ over }) => !over)];
  walk.unknowns.splice(0, walk.unknowns.length, ...unknowns);
  return walk;
}

function walkText(text: string, context: InspectContext, spansInInput: boolean): Walk {
  const walk = start(text, context, spansInInput);
  guarded(walk, () => {
    for (const unknown of invisibleCharacters(text)) markUnknown(walk, unknown);
    // On other systems a carriage return ends the line, so the rest of the line would be a command.
    if (text.includes("\r")) isolated(walk, () => visitText(walk, text.replaceAll("\r", "\n"), rootOrigin(text)));
    visitText(walk, text, rootOrigin(text));
  });
  return walk;
}

function walkArgv(argv: readonly string[], context: InspectContext, spansInInput: boolean): Walk {
  const words = argv.map(quoteWord);
  const text = words.join(" ");
  const walk = start(text, context, spansInInput);
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
  return walk;
}

function start(text: string, context: InspectContext, spansInInput: boolean): Walk {
  return startWalk(text, context, { text: visitText, nested: visitNested, functionCall: visitFunction }, spansInInput);
}

function guarded(walk: Walk, start: () => void): void {
  try {
    start();
    finish(walk);
  } catch (error) {
    // Fail closed: if the analysis throws, the text is unanalyzable.
    const why = `the analysis failed: ${error instanceof Error ? error.message : String(error)}`;
    markOverLimit(walk, { start: 0, end: walk.text.length }, why);
  }
}

export function analysisOf(walk: Walk): Analysis {
  const { text, unknowns, commands } = walk;
  return { text, analyzable: unknowns.length === 0, unknowns, commands };
}

export type { InspectContext, Lookup } from "./lookup.ts";
