/**
 * The walk over a text: one object that holds the results, the current state, and the steps that remain.
 *
 * The walk processes an explicit list of steps instead of recursing, so that nested input cannot overflow the stack. A
 * step may insert further steps before the remaining ones. Each step sees the state that the previous ones left, as in
 * the shell.
 */
import type { CommandFact, Span, Unknown } from "../../core/facts.ts";
import { limits } from "../limits.ts";
import type { InspectContext } from "../lookup.ts";
import type { ParsedScript, SyntaxNode, WordPart } from "../parse.ts";
import type { Origin, State, StreamContent, Value } from "./state.ts";
import { copyState, initialState, NO_CONTENT } from "./state.ts";

/** Collects the output of the commands that write to one stream. */
export interface Sink {
  parts: StreamContent[];
  /** Whether some of the commands may not run, or may run several times. */
  uncertain: boolean;
}

/** Which commands of the text read code from the standard input of the whole command. */
export interface InputUse {
  /** The text of standard input, if its spans are positions in that text. */
  readonly text: string | null;
  /** The language of the command that reads standard input as code. Null when no command does. */
  reader: "shell" | "other" | null;
  /** Whether that command runs code before a line is complete. */
  unbuffered: boolean;
  /** The commands that standard input contains. */
  readonly commands: Set<CommandFact>;
}

/** Entry points of visit.ts, for modules that it imports. */
interface Visitor {
  /** Parses a text and walks it in the current state. */
  text(walk: Walk, text: string, origin: Origin): void;
  /** Visits scripts found inside words, each in its own copy of the state, before the remaining steps. */
  nested(walk: Walk, nested: readonly Nested[]): void;
  /** Visits the body of a function with these arguments. */
  functionCall(walk: Walk, name: string, args: State["positional"], origin: Origin): void;
}

export interface Walk {
  readonly visitor: Visitor;
  readonly context: InspectContext;
  readonly text: string;
  readonly commands: CommandFact[];
  readonly unknowns: Unknown[];
  readonly steps: (() => void)[];
  /** Steps that run after the text: trap handlers, and functions that are never called. */
  readonly later: (() => void)[];
  readonly called: Set<SyntaxNode>;
  state: State;
  /** Receives the output of commands. Null when nothing reads it. */
  sink: Sink | null;
  /** Output of command substitutions, and paths of process substitutions. */
  readonly outputs: Map<WordPart, StreamContent>;
  readonly substitutionPaths: Map<WordPart, string>;
  readonly input: InputUse;
  filesRead: number;
  budget: { commands: number; words: number; parsed: number };
  readonly links: Map<string, string | null>;
  halted: boolean;
}

export function startWalk(text: string, context: InspectContext, visitor: Visitor, spansInInput = false): Walk {
  const { stdin } = context;
  const content: StreamContent =
    stdin === undefined ? NO_CONTENT : { kind: "text", text: stdin, field: null, uncertain: null, input: true };
  return {
    visitor,
    context,
    text,
    commands: [],
    unknowns: [],
    steps: [],
    later: [],
    called: new Set(),
    state: initialState(context.cwd, content),
    sink: null,
    outputs: new Map(),
    substitutionPaths: new Map(),
    input: { text: spansInInput ? (stdin ?? "") : null, reader: null, unbuffered: false, commands: new Set() },
    filesRead: 0,
    budget: { commands: limits.commands, words: limits.words, parsed: limits.parsed },
    links: new Map(),
    halted: false,
  };
}

export function finish(walk: Walk): void {
  for (let count = 0; ; count++) {
    const step = walk.steps.pop() ?? walk.later.shift();
    if (!step) return;
    if (count > limits.steps) {
      markOverLimit(walk, { start: 0, end: walk.text.length }, `the analysis takes more than ${limits.steps} steps`);
      return;
    }
    step();
  }
}

/** Inserts steps before all remaining ones, in the given order. */
export function pushSteps(walk: Walk, ...steps: (() => void)[]): void {
  for (let i = steps.length - 1; i >= 0; i--) walk.steps.push(steps[i] as () => void);
}

/** Runs steps in a copy of the state, as in a subshell, and discards their changes. */
export function isolated(walk: Walk, ...steps: (() => void)[]): void {
  let before: State;
  pushSteps(
    walk,
    () => {
      before = walk.state;
      walk.state = copyState(before);
    },
    ...steps,
    () => {
      walk.state = before;
    },
  );
}

const MAX_UNKNOWNS = 64;

/** Records that a part of the text is not known, which makes the whole text unanalyzable. */
export function markUnknown(walk: Walk, unknown: Unknown): void {
  // When the list is full, an unknown that always requires approval replaces one that does not.
  if (walk.unknowns.length >= MAX_UNKNOWNS) {
    const known = walk.unknowns.some(({ piped, over }) => (unknown.piped && piped) || (unknown.over && over));
    if (known || !(unknown.piped || unknown.over)) return;
    walk.unknowns.splice(
      walk.unknowns.findIndex(({ piped, over }) => !piped && !over),
      1,
    );
  }
  const { start, end } = unknown.span;
  if (
    walk.unknowns.some((known) => known.span.start === start && known.span.end === end && known.why === unknown.why)
  ) {
    return;
  }
  walk.unknowns.push(unknown);
}

/** Records that a part of the text exceeds a limit and was not analyzed. */
export function markOverLimit(walk: Walk, span: Span, why: string): void {
  markUnknown(walk, { span, why, over: true });
}

/** Deducts one command from the budget. When the budget is exhausted, the walk stops and the text is unanalyzable. */
export function spend(walk: Walk, span: Span, words: number): boolean {
  walk.budget.commands--;
  walk.budget.words -= words;
  if (walk.budget.commands >= 0 && walk.budget.words >= 0) return true;
  if (!walk.halted) {
    walk.halted = true;
    markOverLimit(walk, span, `the text contains more than ${limits.commands} commands or ${limits.words} arguments`);
    walk.steps.length = 0;
    walk.later.length = 0;
  }
  return false;
}

export function setVariable(walk: Walk, name: string, value: Value): void {
  if (name === "PATH" || name === "BASH_CMDS" || name === "BASH_ALIASES") walk.state.pathChanged = true;
  if (name === "IFS") walk.state.splitChanged = true;
  walk.state.variables.set(name, value);
}

/** A script inside a word. It runs before the command that the word belongs to. */
export interface Nested {
  script: ParsedScript;
  origin: Origin;
  /** The word part, for `$(…)`. Its output becomes part of the word. */
  part?: WordPart;
  /** The path of a process substitution: `<(…)` prints to it, and `>(…)` reads from it after the command has run. */
  path?: string;
  reads?: boolean;
}
