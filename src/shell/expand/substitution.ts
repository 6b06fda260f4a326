/** Shared parts of the expansion: the expander, and scripts inside words, whose output can sometimes be determined. */
import type { Span } from "../../core/facts.ts";
import { echoOutput, printfOutput } from "../commands/builtin-output.ts";
import type { ParsedScript, WordNode } from "../parse.ts";
import type { Origin } from "../walk/state.ts";
import type { Nested, Walk } from "../walk/walk.ts";
import type { Field } from "./field.ts";

/** Expands a word to fields. It is passed as an argument, because expand.ts imports this file. */
type ExpandWord = (at: Expander, word: WordNode) => Field[];

/** The context of an expansion. `nested` collects the scripts found inside words. */
export interface Expander {
  walk: Walk;
  origin: Origin;
  nested: Nested[];
  /**
   * Expands a word to one field. Set by expand.ts, because parameters and arithmetic contain words, and words contain
   * parameters and arithmetic.
   */
  expandValue(at: Expander, word: WordNode): Field;
}

/** Collects a script inside a word (`$(…)`, `<(…)`), which runs before the command that the word belongs to. */
export function addNested(
  at: Expander,
  script: ParsedScript | undefined,
  span: Span,
  use: Pick<Nested, "part" | "path" | "reads"> = {},
): void {
  if (!script) return;
  const inner = { ...at.origin, nesting: at.origin.nesting + 1 };
  const origin = script.source === undefined ? inner : { ...inner, source: script.source, base: null, span };
  at.nested.push({ script, origin, ...use });
}

/** Substitutions whose output cannot be a dangerous path or piece of code. */
const INERT =
  /^(?:date(?: \+[\w%:. -]*| "\+[\w%:. -]*"| '\+[\w%:. -]*')?|nproc|whoami|id -[ug]n?|uname(?: -[a-z])?|hostname(?: -s)?|arch)$/;
const NUMBER =
  /^(?:date \+%s(?:%N)?|nproc|id -[ug]|wc -[lcmw](?: *<? *[\w./-]+)?|stat -[cf] ?%[sYza] [\w./-]+|expr [\d +*/-]+)$/;

/**
 * Returns the likely output of a substitution that only prints its arguments (`$(echo /)`) or finds a program
 * (`$(which rm)`). The output is checked like a known value, but it does not count as known.
 */
export function likelyOutput(at: Expander, script: ParsedScript | undefined, expandWord: ExpandWord): string | null {
  const [statement, ...others] = script?.commands ?? [];
  const command = statement?.command;
  if (others.length > 0 || command?.type !== "Command" || command.redirects.length > 0) return null;
  const nodes = command.name ? [command.name, ...command.args] : [];
  const origin = { ...at.origin, source: script?.source ?? at.origin.source, base: null };
  // The scripts inside these words are collected when the substitution itself is visited.
  const inner = { ...at, origin, nested: [] };
  const argv = nodes.flatMap((node) => (node.type === "Word" ? expandWord(inner, node) : []));
  const [name = "", ...rest] = argv.map(({ value }) => value);
  if (name === null || shadowed(at.walk, name) || nodes.some(({ type }) => type !== "Word")) return null;
  const printed =
    name === "echo" ? echoOutput({ name, argv }) : name === "printf" ? printfOutput({ name, argv }) : null;
  if (printed?.kind === "text") return printed.text.replace(/\n+$/, "");
  const finds = /^(?:which|type|command)$/.test(name) && (name === "which" || /^-[vpP]$/.test(rest[0] ?? ""));
  const program = finds ? rest.at(-1) : null;
  return program && /^[\w.+-]+$/.test(program) ? `/usr/bin/${program}` : null;
}

function body(text: string): string | null {
  const match = /^(?:\$\(|`)\s*([^`()]*?)\s*(?:\)|`)$/.exec(text);
  return match?.[1] ?? null;
}

export function evidentOutput(walk: Walk, text: string): { text: string | null; shape: string | null } {
  const command = text.length < 80 ? body(text) : null;
  if (command === null) return { text: null, shape: null };
  if (shadowed(walk, command)) return { text: null, shape: null };
  if (command === "pwd" && walk.state.cwd !== null && walk.state.fallbacks.length === 0)
    return { text: walk.state.cwd, shape: walk.state.cwd };
  if (/^mktemp(?: -d| -q| -u)*$/.test(command))
    return { text: null, shape: `${walk.context.env?.TMPDIR ?? "/tmp"}/tmp.fresh` };
  if (INERT.test(command)) return { text: null, shape: "x" };
  return { text: null, shape: null };
}

/** Reports whether the output is a number, so that arithmetic on it runs no code. */
export function isNumeric(walk: Walk, text: string): boolean {
  const command = text.length < 80 ? body(text) : null;
  return command !== null && NUMBER.test(command) && !shadowed(walk, command);
}

function shadowed(walk: Walk, command: string): boolean {
  return walk.state.pathChanged || walk.state.functions.has(command.split(" ", 1)[0] ?? "");
}
