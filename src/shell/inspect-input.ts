/**
 * Analyzes text that is written to a running command. The command is analyzed again with the text as its standard
 * input, so that a wrapper, a pipeline or a program with shell escapes is understood as it is for a here-document. Only
 * the commands that the text adds count; the command itself was authorized when it was started.
 */
import type { Analysis, Unknown } from "../core/facts.ts";
import { analysisOf, type Command, walkCommand } from "./inspect.ts";
import type { InspectContext } from "./lookup.ts";

/** How a command reads its standard input. */
export interface InputUse {
  /** The language of the code that it reads: that of a shell, or another one. Null when the input is data. */
  language: "shell" | "other" | null;
  /** Whether it may run code before a line is complete. */
  unbuffered: boolean;
}

export function inputUse(command: Command, context: InspectContext): InputUse {
  const { input } = walkCommand(command, { ...context, stdin: "" });
  return { language: input.reader, unbuffered: input.unbuffered };
}

/** Analyzes the input of a command. Spans are positions in the input. */
export function inspectInput(command: Command, text: string, context: InspectContext): Analysis {
  const before = new Set(walkCommand(command, { ...context, stdin: "" }).unknowns.map(keyOf));
  const walk = walkCommand(command, { ...context, stdin: text }, true);
  const { commands, unknowns } = analysisOf(walk);
  const added = unknowns.filter((unknown) => unknown.input || !before.has(keyOf(unknown)));
  const inText = { start: 0, end: text.length };
  return {
    text,
    analyzable: added.length === 0,
    unknowns: added.map((unknown) => (unknown.span.end <= text.length ? unknown : { ...unknown, span: inText })),
    commands: commands.filter((fact) => walk.input.commands.has(fact)),
  };
}

function keyOf({ span, why }: Unknown): string {
  return `${span.start} ${span.end} ${why}`;
}

/** Matches history expansions of an interactive shell (`!!`, `!rm`, `^a^b`), which replace parts of a line. */
const HISTORY = /(?:^|[^\\$[{\w])!(?:[!#$*^?{-]|[\w./])|^\^[^^\n]+\^/m;

/** Reports whether an interactive shell would replace parts of the text with text from its history. */
export function expandsHistory(text: string): boolean {
  return HISTORY.test(text.replace(/'[^'\n]*'/g, "''"));
}
