/**
 * The walk over a text: one object that holds what was found, what is known at this point, and what is still to visit.
 *
 * It runs from an explicit list of steps, not by recursion, so nesting in the input cannot overflow the stack. A step may
 * put further steps in front of the rest; each sees the state its predecessors left, as the shell would.
 */
import type { CommandFact, Span, Unknown } from "../../core/facts.ts";
import { limits } from "../limits.ts";
import type { InspectContext } from "../lookup.ts";
import type { ParsedScript, SyntaxNode } from "../parse.ts";
import type { Origin, State, StreamContent, Value } from "./state.ts";
import { copyState, initialState, NO_CONTENT } from "./state.ts";

/** The entry points of visit.ts, for files below it that find more to visit. */
interface Visitor {
  /** Parses a text and walks it. The caller decides what state it starts in. */
  text(walk: Walk, text: string, origin: Origin): void;
  /** Scripts found inside words: each in its own copy of the state, before what follows. */
  nested(walk: Walk, nested: readonly Nested[]): void;
  /** A call of a function: its body, with the arguments it is given. */
  functionCall(walk: Walk, name: string, args: State["positional"], origin: Origin): void;
}

export interface Walk {
  readonly visitor: Visitor;
  readonly context: InspectContext;
  readonly text: string;
  readonly commands: CommandFact[];
  readonly unknowns: Unknown[];
  readonly steps: (() => void)[];
  /** Visited after the text: trap handlers, and functions that were never called. */
  readonly later: (() => void)[];
  readonly called: Set<SyntaxNode>;
  state: State;
  /** What the last simple command printed, where that is evident. */
  output: StreamContent;
  budget: { commands: number; words: number; parsed: number };
  readonly links: Map<string, string | null>;
  halted: boolean;
}

export function startWalk(text: string, context: InspectContext, visitor: Visitor): Walk {
  return {
    visitor,
    context,
    text,
    commands: [],
    unknowns: [],
    steps: [],
    later: [],
    called: new Set(),
    state: initialState(context.cwd),
    output: NO_CONTENT,
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

/** Puts steps in front of everything that waits, in the order given. */
export function pushSteps(walk: Walk, ...steps: (() => void)[]): void {
  for (let i = steps.length - 1; i >= 0; i--) walk.steps.push(steps[i] as () => void);
}

/** Runs steps in a copy of the state, as a subshell does, and forgets what they changed. */
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

/** Anything unknown about what would run makes the whole text unanalyzable; the span says which part. */
export function markUnknown(walk: Walk, unknown: Unknown): void {
  // Less important unknowns must not displace those that a person is asked about.
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

/** Some of it is not looked at: there is more than the caps allow. */
export function markOverLimit(walk: Walk, span: Span, why: string): void {
  markUnknown(walk, { span, why, over: true });
}

/** Takes one command from the budget. A text with more is never half checked and then let through. */
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

/** A script inside a word. It runs before the command the word belongs to. */
export interface Nested {
  script: ParsedScript;
  origin: Origin;
}
