/** Visits a simple command: expands its assignments, arguments and redirections, and passes them to run.ts. */
import type { Span } from "../../core/facts.ts";
import { arithmeticText, evaluates, subscript } from "../expand/arithmetic.ts";
import { expand, expander, expandValue } from "../expand/expand.ts";
import { type Field, tail } from "../expand/field.ts";
import type { Expander } from "../expand/substitution.ts";
import { limits } from "../limits.ts";
import type { Assignment, Command, WordNode } from "../parse.ts";
import { emitKeyword } from "./call.ts";
import { environmentCode } from "./environment.ts";
import { type Redirects, redirects } from "./redirect.ts";
import { runArgv } from "./run.ts";
import type { Origin, Value } from "./state.ts";
import { fieldValue, spanAt } from "./state.ts";
import { emit } from "./streams.ts";
import type { Walk } from "./walk.ts";
import { markOverLimit, markUnknown, pushSteps, setVariable } from "./walk.ts";

export function visitCommand(walk: Walk, node: Command, origin: Origin): void {
  const span = spanAt(origin, node.pos, node.end);
  if (node.prefix.length + node.suffix.length > limits.commandWords) {
    markOverLimit(walk, span, `a command has more than ${limits.commandWords} arguments`);
    return;
  }
  const at = expander(walk, origin);
  const first = expandCommand(at, node);
  const before = at.nested.filter(({ reads }) => !reads);
  const after = at.nested.filter(({ reads }) => reads);
  if (at.nested.length === 0) {
    runExpanded(walk, node, first, origin, span);
    return;
  }
  pushSteps(
    walk,
    () => {
      const known = before.some(({ part }) => part && walk.outputs.has(part));
      runExpanded(walk, node, known ? expandCommand(expander(walk, origin), node) : first, origin, span);
    },
    () => walk.visitor.nested(walk, after),
  );
  walk.visitor.nested(walk, before);
}

interface Expanded {
  assigned: PendingAssignment[];
  argv: Field[];
  found: Redirects;
}

function expandCommand(at: Expander, node: Command): Expanded {
  const prefix = node.prefix.flatMap((item) => (item.type === "Assignment" ? [item] : []));
  const assigned = prefix.map((item) => assignment(at, item));
  const argv: Field[] = node.name ? expand(at, node.name, "word") : [];
  // Keys of an associative array are text. Subscripts of other arrays are arithmetic.
  const keyed = node.args.some((item) => item.type === "Word" && /^-\w*A/.test(item.text));
  for (const item of node.args) {
    if (item.type === "Assignment") argv.push(assignmentField(at, item, keyed));
    else for (const field of expand(at, item, "word")) argv.push(field);
  }
  markTornWords(at, node);
  return { assigned, argv, found: redirects(at, node.redirects) };
}

function runExpanded(walk: Walk, node: Command, expanded: Expanded, origin: Origin, span: Span): void {
  const { assigned, argv, found } = expanded;
  const assignments = assigned.map(({ name, field }) => ({ name, value: field }));
  if (argv.length > 0) {
    runArgv(walk, { argv, assignments, redirects: found, origin, span, external: false });
    return;
  }
  for (const { name, value } of assigned) setVariable(walk, name, value);
  if (assigned.length === 0 && found.facts.length === 0 && !node.name) return;
  emitKeyword(walk, origin, found, span, assignments);
  // `$(< file)` prints the file.
  if (found.stdin && assigned.length === 0) emit(walk, found.stdin);
  environmentCode(walk, assignments, origin);
}

/** Marks adjacent words that bash reads as one (`r<()m`) but the parser splits. */
function markTornWords(at: Expander, node: Command): void {
  let end = node.name?.end ?? -1;
  for (const { pos, end: last } of node.args) {
    if (pos === end)
      markUnknown(at.walk, {
        span: spanAt(at.origin, pos, last),
        why: "the parser cannot read this word as bash does",
      });
    end = last;
  }
}

interface PendingAssignment {
  name: string;
  field: Field;
  value: Value;
}

function assignment(at: Expander, node: Assignment, keyed = false): PendingAssignment {
  if (node.index) subscript(at, node.index);
  const span = spanAt(at.origin, node.pos, node.end);
  if (node.value.type === "ArrayValue") {
    const items = node.value.elements.flatMap((word) =>
      word.text.startsWith("[") ? [element(at, word, keyed)] : expand(at, word, "word"),
    );
    const numbered = node.value.elements.some((word) => word.text.startsWith("["));
    const listed = numbered ? inOrder(items) : items;
    const known = listed !== null && items.length <= limits.listItems && !items.some((item) => item.many);
    const before = at.walk.state.variables.get(node.name);
    const all = node.append && before?.kind === "list" ? [...before.items, ...(listed ?? [])] : (listed ?? []);
    const value: Value =
      known && !(node.append && (numbered || before?.kind !== "list"))
        ? { kind: "list", items: all, exported: false }
        : { kind: "unknown", exported: false };
    const field: Field = {
      source: node.text,
      value: null,
      prefix: "",
      glob: false,
      span,
      shape: null,
      uncertain: { span, why: "the value is an array" },
      certain: 0,
      many: false,
    };
    return { name: node.name, field, value };
  }
  const field = expandValue(at, node.value);
  if (at.walk.state.integers.has(node.name)) arithmeticText(at.walk, field.shape, span);
  let value = fieldValue(field, at.walk.state.variables.get(node.name)?.exported ?? false);
  const before = at.walk.state.variables.get(node.name);
  if (node.append) {
    value =
      before?.kind === "text" && value.kind === "text"
        ? { ...value, text: before.text + value.text }
        : { kind: "unknown", exported: false };
  }
  if (node.index) value = element0(node, before, value);
  return { name: node.name, field: { ...field, span }, value };
}

/** Returns the elements of `a=([1]=y [0]=x)` in the order of their indexes. Null when an index is not a number. */
function inOrder(items: readonly Field[]): Field[] | null {
  const found: { index: number; item: Field }[] = [];
  for (const item of items) {
    const index = /^\[(\d{1,6})\]=/.exec(item.prefix);
    if (!index) return null;
    found.push({ index: Number(index[1]), item: tail(item, index[0].length) });
  }
  return found.toSorted((one, other) => one.index - other.index).map(({ item }) => item);
}

/**
 * Returns the value after `a[0]=x`. It is known only if the variable was not set before; other subscripts make the
 * array unknown.
 */
function element0(node: Assignment, before: Value | undefined, value: Value): Value {
  return node.index?.text === "0" && !before ? value : { kind: "unknown", exported: false };
}

function element(at: Expander, word: WordNode, keyed: boolean): Field {
  const field = expandValue(at, word);
  const index = /^\[([^\]]*)\]/.exec(word.text)?.[1] ?? "";
  if (keyed ? !/^[\w .:/-]*$/.test(index) : !evaluates(at.walk, index)) {
    markUnknown(at.walk, { span: field.span, why: "bash evaluates the array subscript, which can run code" });
  }
  return field;
}

/** Returns the argument that `export A=b` passes to the builtin: `A=b` as one word. */
function assignmentField(at: Expander, node: Assignment, keyed: boolean): Field {
  const { field, name } = assignment(at, node, keyed);
  const lead = `${name}${node.append ? "+" : ""}=`;
  const value = field.value === null ? null : lead + field.value;
  return {
    ...field,
    source: node.text,
    value,
    prefix: lead + field.prefix,
    shape: field.shape === null ? null : lead + field.shape,
  };
}
