/** Wraps the parser, and rejects input that the parser cannot process in bounded time. */
import { parse as unbash } from "unbash";
import { limits } from "./limits.ts";
import { significantText } from "./significant.ts";

export type {
  ArithmeticExpression,
  Assignment,
  AssignmentPrefix,
  Command,
  CommandArgument,
  CommandNode,
  CompoundList,
  HereDoc,
  ParameterExpansionPart,
  ParsedScript,
  PipelineNode,
  Redirection,
  Statement,
  SyntaxNode,
  TestExpression,
  Word as WordNode,
  WordPart,
} from "unbash";
export { forEachChild } from "unbash";

import type { ParsedScript, Word as WordNode } from "unbash";

type Parsed = { script: ParsedScript; problem: null } | { script: null; problem: { why: string; at: number } };

/** Parses shell text, or returns the reason why it cannot be parsed. An error anywhere makes the whole text invalid. */
export function parse(text: string): Parsed {
  const cap = overLimit(text);
  if (cap) return { script: null, problem: cap };
  try {
    return { script: unbash(text), problem: null };
  } catch {
    return { script: null, problem: { why: "the text cannot be parsed", at: 0 } };
  }
}

/** Parses one raw word from a brace expansion. Null when it is not a single word. */
export function parseWord(raw: string): WordNode | null {
  const parsed = parse(`_ ${raw}`);
  const command = parsed.script?.commands[0]?.command;
  if (!parsed.script || parsed.script.errors || parsed.script.commands.length !== 1) return null;
  if (command?.type !== "Command" || command.suffix.length !== 1) return null;
  const word = command.suffix[0];
  return word?.type === "Word" ? word : null;
}

const DOUBLE = 34;
const DOLLAR = 36;
const AMPERSAND = 38;
const SINGLE = 39;
const STAR = 42;
const SEMICOLON = 59;
const QUESTION = 63;
const BAR = 124;
const PAREN = 40;
const LESS = 60;
const GREATER = 62;
const BRACKET = 91;
const BACKTICK = 96;
const BRACE = 123;

interface Excess {
  why: string;
  at: number;
}

/** Returns the first limit that the text exceeds. The parts that take the parser little time do not count. */
function overLimit(text: string): Excess | null {
  if (text.length > limits.text) return { why: `the text is longer than ${limits.text} characters`, at: limits.text };
  const excess = countSigns(text);
  return excess && countSigns(significantText(text)) && excess;
}

/** Counts signs. Quoting is ignored on purpose, so that quotes cannot lower the counts. */
function countSigns(text: string): Excess | null {
  if (text.length > limits.significant)
    return { why: `the text is longer than ${limits.significant} characters`, at: limits.significant };
  let substitutions = 0;
  let expansions = 0;
  let backticks = 0;
  let hereDocuments = 0;
  let braces = 0;
  let signs = 0;
  let dollars = 0;
  let separators = 0;
  let previous = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code <= 32) braces = signs = 0;
    else if (code === DOLLAR) dollars++;
    else if (code === STAR || code === QUESTION || code === DOUBLE || code === SINGLE) signs++;
    else if (code === SEMICOLON || code === BAR || code === AMPERSAND) separators++;
    else if (code === PAREN && (previous === DOLLAR || previous === LESS || previous === GREATER)) substitutions++;
    else if (code === PAREN && previous === PAREN) substitutions++;
    else if (code === BRACKET && previous === DOLLAR) substitutions++;
    else if (code === LESS && previous === LESS) hereDocuments++;
    else if (code === BACKTICK) backticks++;
    else if (code === BRACE) {
      braces++;
      if (previous === DOLLAR) expansions++;
    }
    // A line continuation joins the characters around it: `$\<newline>(` opens a substitution.
    if (code === 92 && text.charCodeAt(i + 1) === 10) i++;
    else previous = code;
    if (substitutions > limits.substitutions)
      return { why: `the text has more than ${limits.substitutions} substitutions`, at: i };
    if (expansions > limits.expansions)
      return { why: `the text has more than ${limits.expansions} parameter expansions`, at: i };
    if (backticks > limits.backticks) return { why: `the text has more than ${limits.backticks} backticks`, at: i };
    if (hereDocuments > limits.hereDocuments)
      return { why: `the text has more than ${limits.hereDocuments} here-documents`, at: i };
    if (dollars > limits.dollars) return { why: `the text has more than ${limits.dollars} \`$\` signs`, at: i };
    if (separators > limits.separators)
      return { why: `the text has more than ${limits.separators} command separators`, at: i };
    if (signs > limits.signsPerWord)
      return { why: `a word has more than ${limits.signsPerWord} wildcards and quotes`, at: i };
    if (braces > limits.bracesPerWord) return { why: `a word has more than ${limits.bracesPerWord} braces`, at: i };
  }
  return null;
}
