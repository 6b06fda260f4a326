/** The known variables, working directory and standard input at one point in the text. */
import type { Span, Unknown } from "../../core/facts.ts";
import type { Field, StreamContent } from "../expand/field.ts";

export type { StreamContent } from "../expand/field.ts";

import type { SyntaxNode } from "../parse.ts";

/** The origin of a piece of text, which maps its offsets to offsets in the original text. */
export interface Origin {
  source: string;
  /**
   * Offset of `source` in the original text. Null if `source` was decoded, so that only the whole span can be shown.
   */
  base: number | null;
  span: Span;
  via: readonly string[];
  /** Bodies of the functions on the call stack. Bodies and not names, since a function may redefine its own name. */
  calls: readonly SyntaxNode[];
  background: boolean;
  piped: boolean;
  remote: boolean;
  /** The text comes from the standard input of the whole command. */
  input: boolean;
  reentry: number;
  nesting: number;
  /** Number of times that the enclosing loops are walked. */
  rounds: number;
}

export function rootOrigin(text: string): Origin {
  return {
    source: text,
    base: 0,
    span: { start: 0, end: text.length },
    via: [],
    calls: [],
    background: false,
    piped: false,
    remote: false,
    input: false,
    reentry: 0,
    nesting: 0,
    rounds: 1,
  };
}

export function spanAt(origin: Origin, start: number, end: number): Span {
  if (origin.base === null) return origin.span;
  return { start: origin.base + start, end: origin.base + end };
}

/**
 * The value of a variable. With `uncertain`, the text is a likely value (a default, or a value set in one branch):
 * rules check it, but it does not count as known.
 */
export type Value =
  | { kind: "text"; text: string; glob: boolean; uncertain: Unknown | null; exported: boolean }
  /** An integer with an unknown value, which is harmless in a path and in arithmetic. */
  | { kind: "integer"; exported: boolean }
  | { kind: "list"; items: Field[]; exported: boolean }
  | { kind: "unknown"; exported: boolean; remote?: boolean };

export interface State {
  variables: Map<string, Value>;
  /** Positional parameters; null when they are not known. */
  positional: Field[] | null;
  functions: Map<string, FunctionBody>;
  cwd: string | null;
  previousCwd: string | null;
  /**
   * Directories in which the shell would still be if an earlier `cd` failed. Empty as long as every `cd` so far was
   * checked with `&&` or `set -e`.
   */
  fallbacks: readonly string[];
  /** Whether `set -e` is on, so that the shell exits when a command fails. */
  stopsOnError: boolean;
  directoryStack: (string | null)[];
  stdin: StreamContent;
  /** Content of the other descriptors that are open for reading. */
  descriptors: ReadonlyMap<number, StreamContent>;
  /** Whether the shell reads its commands from standard input, so that `exec < file` makes it run the file. */
  readsCommands: boolean;
  /** Whether PATH was set, so that the program that a name refers to is no longer known. */
  pathChanged: boolean;
  /** Whether IFS was set, so that the splitting of words is no longer known. */
  splitChanged: boolean;
  /** Variables declared as integers. Bash evaluates every value assigned to them. */
  integers: Set<string>;
  /** Inside a function, the values that its local variables replaced and that are restored on return. */
  savedLocals: Map<string, Value | undefined> | null;
  /** Files that this text wrote, with their content if it is known, in case the text runs them. */
  written: Map<string, StreamContent>;
  /** Links and copies that this text made, by the path of the new file. */
  made: Map<string, MadeFile>;
}

/** A link or a copy that the text made. */
export interface MadeFile {
  /** The absolute path of the original. */
  original: string;
  /** Whether a change to the new file changes the original: true for links, false for copies. */
  linked: boolean;
}

interface FunctionBody {
  body: SyntaxNode;
  source: string;
  origin: Origin;
  /** False when the function is undefined or defined differently on another path through the text. */
  certain: boolean;
}

export const NO_CONTENT: StreamContent = { kind: "none" };

export const NO_DESCRIPTORS: ReadonlyMap<number, StreamContent> = new Map();

export function initialState(cwd: string, stdin: StreamContent): State {
  return {
    variables: new Map(),
    positional: null,
    functions: new Map(),
    cwd,
    previousCwd: null,
    fallbacks: [],
    stopsOnError: false,
    directoryStack: [],
    stdin,
    descriptors: NO_DESCRIPTORS,
    readsCommands: false,
    pathChanged: false,
    splitChanged: false,
    integers: new Set(),
    savedLocals: null,
    written: new Map(),
    made: new Map(),
  };
}

/** Copies a state. Subshells share `written` and `made`, because files outlive the subshell that wrote them. */
export function copyState(state: State): State {
  return {
    ...state,
    variables: new Map(state.variables),
    functions: new Map(state.functions),
    directoryStack: [...state.directoryStack],
  };
}

/** Merges the states of two paths through the text. Values that differ become unknown. */
export function mergeStates(one: State, other: State): State {
  const merged = copyState(one);
  for (const name of new Set([...one.variables.keys(), ...other.variables.keys()])) {
    const a = one.variables.get(name);
    const b = other.variables.get(name);
    if (a === b) continue;
    merged.variables.set(name, mergeValues(a, b));
  }
  for (const name of new Set([...one.functions.keys(), ...other.functions.keys()])) {
    const a = one.functions.get(name);
    const b = other.functions.get(name);
    const any = a ?? b;
    if (any && a?.body !== b?.body) merged.functions.set(name, { ...any, certain: false });
    else if (a && b && !b.certain) merged.functions.set(name, b);
  }
  if (one.positional !== other.positional) merged.positional = null;
  if (one.cwd !== other.cwd) merged.cwd = null;
  if (one.fallbacks !== other.fallbacks)
    merged.fallbacks = [...new Set([...one.fallbacks, ...other.fallbacks])].slice(0, 8);
  merged.stopsOnError &&= other.stopsOnError;
  if (one.previousCwd !== other.previousCwd) merged.previousCwd = null;
  if (one.directoryStack.join("\n") !== other.directoryStack.join("\n")) merged.directoryStack = [];
  merged.pathChanged ||= other.pathChanged;
  merged.splitChanged ||= other.splitChanged;
  return merged;
}

function mergeValues(a: Value | undefined, b: Value | undefined): Value {
  const exported = Boolean(a?.exported || b?.exported);
  if (a?.kind === "text" && b?.kind === "text" && a.text === b.text) return a.uncertain ? a : b;
  if (isInteger(a) && isInteger(b)) return { kind: "integer", exported };
  const only = a ?? b;
  if ((!a || !b) && only?.kind === "text") {
    return { ...only, uncertain: { span: { start: 0, end: 0 }, why: "the variable is set in only one branch" } };
  }
  const remote = [a, b].some((value) => value?.kind === "unknown" && value.remote);
  return { kind: "unknown", exported, remote };
}

export function isInteger(value: Value | undefined): boolean {
  if (value?.kind === "integer") return true;
  return value?.kind === "text" && /^-?\d+$/.test(value.text);
}

export function fieldValue(field: Field, exported: boolean): Value {
  if (field.value !== null)
    return { kind: "text", text: field.value, glob: field.glob, uncertain: field.uncertain, exported };
  if (field.shape !== null && /^-?\d+$/.test(field.shape)) return { kind: "integer", exported };
  if (field.shape !== null) return { kind: "list", items: [field], exported };
  return { kind: "unknown", exported, remote: field.uncertain?.remote === true };
}
