/**
 * Expands words to values as far as they can be known before the command runs: quoting, `$'…'`, tilde, braces, and
 * variables set earlier in the same text. An unknown value is null and has a reason.
 */
import type { Unknown } from "../../core/facts.ts";
import { limits } from "../limits.ts";
import { parse, parseWord, type WordNode, type WordPart } from "../parse.ts";
import type { Origin } from "../walk/state.ts";
import { spanAt } from "../walk/state.ts";
import type { Walk } from "../walk/walk.ts";
import { markUnknown } from "../walk/walk.ts";
import { arithmetic } from "./arithmetic.ts";
import { balanced, expandBraces } from "./brace.ts";
import { type Field, literal, type StreamContent, unknownField } from "./field.ts";
import { type Piece, parameter } from "./parameter.ts";
import type { Expander } from "./substitution.ts";
import { addNested, evidentOutput, likelyOutput } from "./substitution.ts";

/**
 * `word` is an argument, which is split and brace-expanded. `value` is an assignment or a redirection target, which is
 * always one field.
 */
type Mode = "word" | "value";

export function expander(walk: Walk, origin: Origin): Expander {
  return { walk, origin, nested: [], expandValue };
}

export function expand(at: Expander, node: WordNode, mode: Mode): Field[] {
  const span = spanAt(at.origin, node.pos, node.end);
  const parts = node.parts;
  if (!parts) {
    const value = tilde(at.walk, node.text, node.value, mode);
    const field = literal(value.text, node.text, span);
    if (value.uncertain) field.uncertain = { span, why: value.uncertain };
    return [field];
  }
  if (mode === "word" && parts.some((part) => part.type === "BraceExpansion")) {
    const made = braces(at, node);
    if (made) return made;
  }
  const draft = new Draft(node.text, span);
  for (const [index, part] of parts.entries()) addPart(at, draft, part, false, mode, index === 0);
  return draft.done();
}

function expandWord(at: Expander, node: WordNode): Field[] {
  return expand(at, node, "word");
}

/** Expands a word to exactly one field, for contexts in which the shell does not split. */
export function expandValue(at: Expander, node: WordNode): Field {
  const [field] = expand(at, node, "value");
  return field ?? literal("", node.text, spanAt(at.origin, node.pos, node.end));
}

/** Expands the parts of a here-document body without splitting. */
export function expandParts(at: Expander, parts: readonly WordPart[], source: string, origin: Origin): Field {
  const draft = new Draft(source, origin.span);
  for (const part of parts) addPart(at, draft, part, true, "value", false);
  return draft.done()[0] ?? literal("", source, origin.span);
}

function braces(at: Expander, node: WordNode): Field[] | null {
  const span = spanAt(at.origin, node.pos, node.end);
  const raws = expandBraces(node.text);
  if (raws?.length === 1 && raws[0] === node.text) return null;
  const fields: Field[] = [];
  for (const raw of raws ?? [null]) {
    const word = raw === null || raw === "" ? null : parseWord(raw);
    if (raw === "") continue;
    if (!word) return [unknownField(node.text, span, "the brace expansion cannot be analyzed", true)];
    const origin: Origin = { ...at.origin, source: `_ ${raw}`, base: null, span };
    for (const field of expand({ ...at, origin }, word, "word")) fields.push({ ...field, source: node.text });
  }
  return fields;
}

function addPart(at: Expander, draft: Draft, part: WordPart, quoted: boolean, mode: Mode, first: boolean): void {
  const span = spanAt(at.origin, part.pos, part.end);
  switch (part.type) {
    case "Literal": {
      const value =
        first && !quoted ? tilde(at.walk, part.text, part.value, mode) : { text: part.value, uncertain: null };
      // A line continuation produces nothing, not an empty word.
      if (value.text !== "")
        draft.add({ text: value.text, uncertain: value.uncertain ? { span, why: value.uncertain } : null });
      return;
    }
    case "SingleQuoted":
    case "AnsiCQuoted":
      draft.add({ text: part.value });
      return;
    case "Glob":
      for (const inner of part.parts ?? []) addPart(at, new Draft("", span), inner, true, "value", false);
      draft.add({ text: part.value, glob: true });
      return;
    case "ExtendedGlob":
      // Extended globs are off by default, and zsh reads this as a glob qualifier, which can run code.
      if (mode === "word") markUnknown(at.walk, { span, why: "`bash -c` does not read this text as a pattern" });
      for (const inner of part.parts ?? []) addPart(at, new Draft("", span), inner, true, "value", false);
      draft.add({ text: part.text, glob: true });
      return;
    case "BraceExpansion":
      for (const inner of part.parts ?? []) addPart(at, new Draft("", span), inner, true, "value", false);
      draft.add({ text: part.text });
      return;
    case "DoubleQuoted":
    case "LocaleString":
      // An empty `"$@"` produces no word, unlike other empty quotes.
      draft.present ||= !(part.parts.length === 1 && isAll(part.parts[0]));
      for (const inner of part.parts) addPart(at, draft, inner, true, mode, false);
      return;
    case "SimpleExpansion":
    case "ParameterExpansion":
      draft.addAll(
        parameter(at, part, span, quoted || mode === "value"),
        quoted || mode === "value",
        at.walk.state.splitChanged,
      );
      return;
    case "CommandExpansion": {
      if (!isClosed(part.text)) recover(at, part.pos, span);
      else addNested(at, part.script, span, { part });
      const output = evidentOutput(at.walk, part.text);
      const why: Unknown = { span, why: "the output of a command substitution is known only at run time" };
      const whole = quoted || mode === "value";
      if (output.shape !== null || !addOutput(at, draft, part, why, whole)) draft.addUnknown(why, output, !whole);
      return;
    }
    case "ArithmeticExpansion":
      if (part.expression) arithmetic(at, part.expression, span);
      draft.addUnknown(
        { span, why: "the result of an arithmetic expansion is known only at run time" },
        { text: null, shape: "0" },
        false,
      );
      return;
    case "ProcessSubstitution": {
      const path = substitutionPath(at.walk, part);
      addNested(at, part.script, span, { path, reads: part.text.startsWith(">") });
      draft.addUnknown(
        { span, why: "the path of a process substitution is known only at run time" },
        { text: null, shape: path },
        false,
      );
      return;
    }
  }
}

/**
 * Adds the output of a command substitution, if something is known about it. Output that the text determines counts as
 * likely and not as known, because the program that prints it may be another one than it seems.
 */
function addOutput(at: Expander, draft: Draft, part: CommandExpansion, why: Unknown, whole: boolean): boolean {
  const found = at.walk.outputs.get(part);
  const text =
    found?.kind === "text" && !found.pattern
      ? found.text.replace(/\n+$/, "")
      : likelyOutput(at, part.script, expandWord);
  if (text !== null) {
    const remote = found?.kind === "text" && found.uncertain?.remote ? { remote: true as const } : {};
    const input = found?.kind === "text" && found.input ? { input: true as const } : {};
    const uncertain: Unknown = { ...why, ...remote, ...input };
    const piece = { text, shape: text, glob: false, uncertain, boundary: false };
    draft.addAll([piece], whole, at.walk.state.splitChanged);
    return true;
  }
  if (!found) return false;
  const remote = found.kind === "unknown" && found.remote === true;
  draft.addUnknown(remote ? { ...why, remote } : why, { text: null, shape: null }, !whole, found);
  return true;
}

type CommandExpansion = Extract<WordPart, { type: "CommandExpansion" }>;

/** Returns the path of a process substitution, which identifies its content. Bash counts down from 63 instead. */
function substitutionPath(walk: Walk, part: WordPart): string {
  const path = walk.substitutionPaths.get(part) ?? `/dev/fd/${63 + walk.substitutionPaths.size}`;
  walk.substitutionPaths.set(part, path);
  return path;
}

function isAll(part: WordPart | undefined): boolean {
  if (part?.type === "SimpleExpansion") return part.text === "$@";
  return part?.type === "ParameterExpansion" && (part.parameter === "@" || part.index?.text === "@");
}

function isClosed(text: string): boolean {
  if (text.startsWith("`")) return text.length > 1 && text.endsWith("`");
  return text.endsWith(text.startsWith("${") ? "}" : ")");
}

/** Parses a substitution again from the source. Inside `${x/…}` the parser ends a `$(` at the first slash. */
function recover(at: Expander, from: number, span: Origin["span"]): void {
  markUnknown(at.walk, { span, why: "the parser cannot read this substitution" });
  const { source } = at.origin;
  const ticks = source[from] === "`";
  const open = ticks ? from : source.indexOf("(", from);
  const end = ticks ? source.indexOf("`", from + 1) : balanced(source, open);
  const parsed = end < 0 ? null : parse(source.slice(open + 1, end));
  if (parsed?.script)
    at.nested.push({
      script: parsed.script,
      origin: { ...at.origin, source: source.slice(open + 1, end), base: null, span },
    });
}

/** Builds fields from the parts of a word, left to right. Whitespace in unquoted parts ends a field. */
class Draft {
  present = false;
  readonly #source: string;
  readonly #span: Origin["span"];
  readonly #fields: Field[] = [];
  #field: Field;

  constructor(source: string, span: Origin["span"]) {
    this.#source = source;
    this.#span = span;
    this.#field = literal("", source, span);
  }

  add(piece: { text: string; glob?: boolean; uncertain?: Unknown | null }): void {
    const field = this.#field;
    this.present = true;
    delete field.content;
    // A word that is written out is limited by the length of the text.
    if (field.prefix.length + piece.text.length > Math.max(limits.value, this.#source.length)) {
      field.value = field.shape = null;
      field.uncertain ??= {
        span: this.#span,
        why: `a word is longer than ${limits.value} characters after expansion`,
        over: true,
      };
    }
    if (field.value !== null) {
      field.value += piece.text;
      field.prefix = field.value;
      if (!field.uncertain && !piece.uncertain) field.certain = field.value.length;
    }
    if (field.shape !== null) field.shape += piece.text;
    if (piece.glob) field.glob = true;
    field.uncertain ??= piece.uncertain ?? null;
  }

  addUnknown(
    why: Unknown,
    output: { text: string | null; shape: string | null },
    many: boolean,
    content?: StreamContent,
  ): void {
    if (output.text !== null) {
      this.add({ text: output.text, uncertain: null });
      return;
    }
    const field = this.#field;
    this.present = true;
    // The content stands for the whole word, not for a part of it.
    if (content && field.value === "") field.content = content;
    else delete field.content;
    field.value = null;
    field.shape = field.shape === null || output.shape === null ? null : field.shape + output.shape;
    field.uncertain ??= why;
    field.many ||= many && output.shape === null;
  }

  /** Adds the pieces of a parameter. `whole` keeps them in one field, as quotes do. */
  addAll(pieces: Piece[], whole: boolean, splitChanged: boolean): void {
    for (const piece of pieces) {
      if (piece.boundary) this.#end();
      if (piece.text === null) this.addUnknown(piece.uncertain, piece, !whole || piece.many);
      else if (splitChanged && !whole && !piece.whole) {
        this.addUnknown(
          { span: this.#span, why: "`IFS` was changed, so the words in this value are not known" },
          { text: null, shape: null },
          true,
        );
      } else if (whole || piece.whole || !/[ \t\n]/.test(piece.text)) {
        const active = !whole && !piece.whole && /[*?[]/.test(piece.text);
        if (piece.text !== "" || whole || piece.whole)
          this.add({ text: piece.text, glob: piece.glob || active, uncertain: piece.uncertain });
      } else this.#split(piece.text, piece.uncertain);
    }
  }

  #split(text: string, uncertain: Unknown | null): void {
    const words = text.split(/[ \t\n]+/);
    for (const [index, word] of words.entries()) {
      this.#field.uncertain ??= uncertain;
      if (index > 0) this.#end();
      if (word !== "") this.add({ text: word, glob: /[*?[]/.test(word), uncertain });
    }
  }

  #end(): void {
    if (this.present) this.#fields.push(this.#field);
    this.#field = literal("", this.#source, this.#span);
    this.present = false;
  }

  done(): Field[] {
    this.#end();
    return this.#fields;
  }
}

/**
 * Expands `~`, `~user`, `~+` and `~-` at the start of a word, and after `=` in a word that looks like an assignment.
 */
function tilde(
  walk: Walk,
  raw: string,
  value: string,
  mode: "word" | "value",
): { text: string; uncertain: string | null } {
  if (!raw.includes("~")) return { text: value, uncertain: null };
  const lead = /^([A-Za-z_][A-Za-z0-9_]*=)?~([^/:]*)/.exec(raw.replaceAll("\\\n", ""));
  if (!lead || (mode === "value" && lead[1])) return { text: value, uncertain: null };
  const [whole, name = "", user = ""] = lead;
  if (/[\\'"$`]/.test(user)) return { text: value, uncertain: null };
  const folder = folderOf(walk, user);
  const rest = value.slice(whole.length);
  return {
    text: name + (folder.path === "/" && rest.startsWith("/") ? "" : folder.path) + rest,
    uncertain: folder.uncertain,
  };
}

function folderOf(walk: Walk, user: string): { path: string; uncertain: string | null } {
  if (user === "") {
    const home = walk.state.variables.get("HOME");
    if (!home) return { path: walk.context.home, uncertain: null };
    return home.kind === "text" ? { path: home.text, uncertain: null } : { path: "/", uncertain: "`HOME` was changed" };
  }
  if (user === "+") return folderIn(walk, "PWD", walk.state.cwd);
  if (user === "-") return folderIn(walk, "OLDPWD", walk.state.previousCwd);
  if (user === "root") return { path: "/root", uncertain: null };
  return { path: `/home/${user}`, uncertain: "the home directory of another user is not known" };
}

/** Returns the folder that `~+` or `~-` refers to: the value of the variable if the text set it. */
function folderIn(walk: Walk, name: string, folder: string | null): { path: string; uncertain: string | null } {
  const set = walk.state.variables.get(name);
  const known = set?.kind === "text" && !set.uncertain;
  return {
    path: set?.kind === "text" ? set.text : set ? "/" : (folder ?? "."),
    uncertain: known || (!set && folder !== null) ? null : `the value of \`${name}\` is not known`,
  };
}
