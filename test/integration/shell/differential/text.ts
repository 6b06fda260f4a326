import { assigned, reentry, wrapped } from "./indirect.ts";
import { functionNames, plainNames, standIns } from "./names.ts";
import { quoted } from "./quote.ts";
import type { Random } from "./random.ts";
import { redirect } from "./redirects.ts";
import { tricks } from "./tricks.ts";
import { literals, variables, word, words } from "./words.ts";

/** `simple` texts can be analyzed completely; `any` texts use all of the grammar. */
export type Profile = "simple" | "any";

/** Returns a random shell text. It is harmless: it uses only stand-ins, harmless builtins and relative files. */
export function shellText(random: Random, profile: Profile): string {
  return new Writer(random, profile).list(random.pick([1, 1, 2, 2, 2, 3]), random.pick([1, 1, 2, 3]));
}

/** Generates shell text from a grammar, with a nesting budget that decreases with depth. */
export class Writer {
  readonly random: Random;
  readonly profile: Profile;
  /** Bodies of here-documents that follow at the next line break. */
  bodies: string[] = [];
  private functions: string[] = [];
  private inFunction = false;

  constructor(random: Random, profile: Profile) {
    this.random = random;
    this.profile = profile;
  }

  /** Returns a complete text, as in a substitution, whose here-documents end inside it. */
  list(depth: number, most: number): string {
    const outer = this.bodies;
    this.bodies = [];
    let text = this.random.pick(["", "", "", "", " ", "\n", "\t", "# comment; bravo\n"]) + this.lines(depth, most);
    text += this.bodies.length > 0 ? this.lineBreak() : this.random.pick(["", "", "", ";", " ", " &"]);
    this.bodies = outer;
    return text;
  }

  private lines(depth: number, most: number): string {
    let text = this.andOr(depth);
    for (let count = this.random.int(most); count > 0; count--) text += this.separator() + this.andOr(depth);
    return text;
  }

  private andOr(depth: number): string {
    let text = this.pipeline(depth);
    while (this.random.oneIn(5))
      text += this.random.pick([" && ", " || ", "&&", "||", " && \\\n"]) + this.maybeBreak() + this.pipeline(depth);
    return text;
  }

  private pipeline(depth: number): string {
    let text = this.random.oneIn(15) ? this.random.pick(["! ", "time ", "time -p ", "! ! "]) : "";
    text += this.command(depth);
    while (this.random.oneIn(7))
      text += this.random.pick([" | ", "|", " |& "]) + this.maybeBreak() + this.command(depth);
    return text;
  }

  private command(depth: number): string {
    const { random } = this;
    if (depth <= 0 || random.int(10) < 4) return this.simple(depth);
    const roll = random.int(this.profile === "simple" ? 9 : 14);
    if (roll < 4) return this.compound(depth - 1);
    if (roll < 6) return wrapped(this, depth - 1);
    if (roll < 8) return reentry(this, depth - 1);
    if (roll < 9) return assigned(this, depth - 1);
    return random.pick(tricks).replaceAll("NAME", this.name());
  }

  simple(depth: number): string {
    const { random } = this;
    let text = "";
    if (random.oneIn(8)) text += `${random.pick(variables)}=${word(this, depth)} `;
    if (random.oneIn(14)) text += `${redirect(this, depth)} `;
    text +=
      random.oneIn(9) && this.functions.length > 0 && !this.inFunction
        ? random.pick(this.functions)
        : this.commandWord();
    for (let count = random.int(4); count > 0; count--) text += this.gap() + word(this, depth);
    if (random.oneIn(5)) text += this.gap() + redirect(this, depth);
    return text;
  }

  commandWord(): string {
    const name = this.name();
    return this.random.oneIn(12) ? `{${name},${this.random.pick(literals)}}` : quoted(this.random, name);
  }

  /**
   * Returns a program name. Inside a function, it is never the name of a function, so that no generated function calls
   * itself.
   */
  name(): string {
    return this.random.pick(this.inFunction ? plainNames : standIns);
  }

  private compound(depth: number): string {
    const { random } = this;
    const body = (): string => this.closed(depth);
    const after = random.oneIn(6) ? ` ${redirect(this, depth)}` : "";
    switch (random.int(13)) {
      case 0:
        return `(${body()})${after}`;
      case 1:
        return `{ ${body()}}${after}`;
      case 2:
        return `if ${body()}then ${body()}${random.oneIn(2) ? `else ${body()}` : ""}fi${after}`;
      case 3:
        return `if ${body()}then ${body()}elif ${body()}then ${body()}fi`;
      case 4:
        return `while ${body()}do ${body()}break; done${after}`;
      case 5:
        return `until ${body()}do ${body()}break; done`;
      case 6:
        return `for ${random.pick(variables)} in ${words(this, depth)}; do ${body()}done${after}`;
      case 7:
        return `for ((i=0; i<2; i++)); do ${body()}done`;
      case 8:
        return `case ${word(this, depth)} in ${random.pick(["", "("])}${random.pick(literals)}) ${body()};; *) ${body()}${random.pick([";;", "", ";;", ";&"])} esac`;
      case 9:
        return `[[ ${word(this, depth)} ${random.pick(["==", "!=", "<", "-nt"])} ${word(this, depth)} ]] && ${this.simple(depth)}`;
      case 10:
        return `(( ${random.pick(["1", "0", "i = 2", `${this.unknown(depth)} + 1`])} )) || ${this.simple(depth)}`;
      case 11:
        return this.definition(depth);
      default:
        return random.pick([
          () => `coproc ${this.simple(depth)}`,
          () => `coproc CO { ${body()}}`,
          () => `select v in a b; do ${body()}break; done`,
        ])();
    }
  }

  private definition(depth: number): string {
    const { random } = this;
    const outer = this.inFunction;
    this.inFunction = true;
    const name =
      outer || random.oneIn(2) ? `fn${this.functions.length}_${random.int(1e6)}` : random.pick(functionNames);
    const head = random.pick([`${name}()`, `function ${name}`, `${name} ( )`, `function ${name} ()`]);
    const body = random.pick([
      () => `{ ${this.closed(depth)}}`,
      () => `(${this.closed(depth)})`,
      () => `{ "$1" ${words(this, depth)}; ${this.closed(depth)}}`,
    ])();
    const call = `${head} ${body}${this.separator()}${name} ${random.oneIn(2) ? this.name() : words(this, 0)}`;
    this.inFunction = outer;
    if (name.startsWith("fn") && !outer) this.functions.push(name);
    return random.oneIn(6) ? `${call}; unset -f ${name}; ${name} after` : call;
  }

  /** Returns a substitution whose value cannot be analyzed, which simple texts leave out. */
  unknown(depth: number): string {
    return this.profile === "any" ? `$(${this.list(depth - 1, 1)})` : "1";
  }

  /** Returns commands with their terminator, as in the body of a compound command. Here-documents may end after it. */
  private closed(depth: number): string {
    const text = this.lines(depth, 2);
    return text + (this.random.oneIn(3) ? this.lineBreak() : this.random.pick(["; ", "; ", " & "]));
  }

  separator(): string {
    if (this.bodies.length > 0 && this.random.int(3) > 0) return this.lineBreak();
    return this.random.oneIn(3)
      ? this.lineBreak(this.random.pick(["", " # note; alpha"]))
      : this.random.pick(["; ", ";", " & "]);
  }

  private maybeBreak(): string {
    return this.random.oneIn(4) ? this.lineBreak() : "";
  }

  lineBreak(comment = ""): string {
    const text = `${comment}\n${this.bodies.join("")}`;
    this.bodies = [];
    return text;
  }

  gap(): string {
    return this.random.pick([" ", " ", " ", "  ", "\t", " \\\n", "\\\n "]);
  }
}
