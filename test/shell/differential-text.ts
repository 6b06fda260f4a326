import { quoted, script, single } from "./differential-quote.ts";
import type { Random } from "./differential-random.ts";
import { tricks } from "./differential-tricks.ts";

/** The only programs a generated text names, besides the wrappers and builtins spelled out below. */
export const standIns = ["alpha", "bravo", "carol", "delta", "eagle", "fable"] as const;
/** Stand-ins that a function may hide; the others never name a function. */
const functionNames = ["eagle", "fable"] as const;
const plainNames = ["alpha", "bravo", "carol", "delta"] as const;
/** Real programs that run what they are given; the only other ones on the PATH. */
export const wrappers = [
  "bash",
  "sh",
  "env",
  "nice",
  "timeout",
  "nohup",
  "xargs",
  "cat",
  "find",
  "flock",
  "ionice",
  "stdbuf",
  "taskset",
  "prlimit",
  "chrt",
  "setarch",
  "linux64",
  "sed",
  "awk",
  "perl",
  "split",
  "make",
  "tar",
  "sort",
  "ed",
  "dc",
  "vi",
] as const;

/** `simple` keeps to what an analysis should be able to know completely; `any` to nothing. */
export type Profile = "simple" | "any";

const literals = ["a", "b1", "foo", "-v", "--opt=1", "x=y", "a.b", "12", "@", "%s", "a:b", "-", "--"];
const awkward = [
  "a b",
  "a;b",
  "x|y",
  "p&q",
  "(z)",
  "a>b",
  "#c",
  "a#b",
  "$x",
  "`y`",
  "a\\b",
  "it's",
  'say "hi"',
  "*",
  "{q}",
];
const files = ["f1", "f2"];
const variables = ["v", "w", "x1"];
const unset = ["nope", "none"];

/** One random shell text. Nothing in it can do harm: it names stand-ins, harmless builtins and relative files only. */
export function shellText(random: Random, profile: Profile): string {
  return new Writer(random, profile).list(random.pick([1, 1, 2, 2, 2, 3]), random.pick([1, 1, 2, 3]));
}

/** Writes shell text from a grammar, with a budget of nesting that falls on the way down. */
class Writer {
  private readonly random: Random;
  private readonly profile: Profile;
  /** Bodies of here-documents that follow at the next line break. */
  private bodies: string[] = [];
  private functions: string[] = [];
  private inFunction = false;

  constructor(random: Random, profile: Profile) {
    this.random = random;
    this.profile = profile;
  }

  /** A whole text of its own, as in a substitution: its here-documents end inside it. */
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
    if (roll < 6) return this.wrapped(depth - 1);
    if (roll < 8) return this.reentry(depth - 1);
    if (roll < 9) return this.assigned(depth - 1);
    return random.pick(tricks).replaceAll("NAME", this.name());
  }

  private simple(depth: number): string {
    const { random } = this;
    let text = "";
    if (random.oneIn(8)) text += `${random.pick(variables)}=${this.word(depth)} `;
    if (random.oneIn(14)) text += `${this.redirect(depth)} `;
    text +=
      random.oneIn(9) && this.functions.length > 0 && !this.inFunction
        ? random.pick(this.functions)
        : this.commandWord();
    for (let count = random.int(4); count > 0; count--) text += this.gap() + this.word(depth);
    if (random.oneIn(5)) text += this.gap() + this.redirect(depth);
    return text;
  }

  private commandWord(): string {
    const name = this.name();
    return this.random.oneIn(12) ? `{${name},${this.random.pick(literals)}}` : quoted(this.random, name);
  }

  /** Inside a function no name that a function may have, so that no generated function ever calls itself. */
  private name(): string {
    return this.random.pick(this.inFunction ? plainNames : standIns);
  }

  private compound(depth: number): string {
    const { random } = this;
    const body = (): string => this.closed(depth);
    const after = random.oneIn(6) ? ` ${this.redirect(depth)}` : "";
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
        return `for ${random.pick(variables)} in ${this.words(depth)}; do ${body()}done${after}`;
      case 7:
        return `for ((i=0; i<2; i++)); do ${body()}done`;
      case 8:
        return `case ${this.word(depth)} in ${random.pick(["", "("])}${random.pick(literals)}) ${body()};; *) ${body()}${random.pick([";;", "", ";;", ";&"])} esac`;
      case 9:
        return `[[ ${this.word(depth)} ${random.pick(["==", "!=", "<", "-nt"])} ${this.word(depth)} ]] && ${this.simple(depth)}`;
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
      () => `{ "$1" ${this.words(depth)}; ${this.closed(depth)}}`,
    ])();
    const call = `${head} ${body}${this.separator()}${name} ${random.oneIn(2) ? this.name() : this.words(0)}`;
    this.inFunction = outer;
    if (name.startsWith("fn") && !outer) this.functions.push(name);
    return random.oneIn(6) ? `${call}; unset -f ${name}; ${name} after` : call;
  }

  private wrapped(depth: number): string {
    const { random } = this;
    const inner = (): string => `${this.commandWord()} ${this.words(depth)}`;
    return random.pick([
      () => `env ${inner()}`,
      () => `env A=1 -u B ${inner()}`,
      () => `env -u A B=2 ${inner()}`,
      () => `env -S ${single(`${this.name()} a "b c" 'd'`)} e`,
      () => `env -S${single(`A=1 ${this.name()} x`)}`,
      () => `command ${inner()}`,
      () => `command -- ${inner()}`,
      () => `builtin command ${inner()}`,
      () => `nice ${inner()}`,
      () => `nice -n 1 ${inner()}`,
      () => `timeout 5 ${inner()}`,
      () => `timeout -s KILL --foreground 5 ${inner()}`,
      () => `nohup ${inner()}`,
      () => `(exec ${inner()})`,
      () => `(exec -a zero ${inner()})`,
      () => `env nice -n 2 timeout 3 ${inner()}`,
      () => `xargs ${inner()} <<< ${quoted(random, "p q")}`,
      () => `xargs -n1 ${inner()} <<< 'p q'`,
      () => `echo p q | xargs ${inner()}`,
      () => `printf '%s\\0' p 'q r' | xargs -0 ${inner()}`,
      () => `xargs -I{} ${this.name()} '<{}>' <<< p`,
      () => `nice bash -c ${script(random, this.list(depth, 2))}`,
    ])();
  }

  /** Code handed to a shell as text. */
  private reentry(depth: number): string {
    const { random } = this;
    const code = this.list(depth, 2);
    const mark = random.pick(["E", "EOF", "_x"]);
    const here = (tail: string): string => {
      this.bodies.push(`${code}\n${mark}\n`);
      return `<<'${mark}'${tail}`;
    };
    return random.pick([
      () => `bash -c ${script(random, code)}`,
      () => `bash -ec ${script(random, code)} zero one`,
      () => `sh -c ${script(random, this.list(0, 1))}`,
      () => `bash -o pipefail -c ${script(random, code)}`,
      () => `bash -c ${single(`"$0" "$@"; ${code}`)} ${this.name()} a b`,
      () => `eval ${script(random, code)}`,
      () => `eval ${this.name()} ${single(single("a b"))}`,
      () => `bash <<< ${script(random, code)}`,
      () => `bash -s one ${here("")}`,
      () => `cat ${here(" | bash")}`,
      () => `echo ${script(random, code)} | bash`,
      () => `printf '%s\\n' ${script(random, code)} | sh`,
      () => `source /dev/stdin ${here("")}`,
      () => `. /dev/stdin <<< ${script(random, code)}`,
      () => `bash <(echo ${script(random, code)})`,
      () => `trap ${script(random, code)} EXIT`,
      () => `(trap ${script(random, code)} ERR; false)`,
      () => `(trap ${single(this.list(0, 1))} DEBUG; :)`,
      () =>
        `shopt -s expand_aliases${this.lineBreak()}alias al=${script(random, `${this.name()} z `)}\nal ${this.words(0)}`,
    ])();
  }

  /** A variable whose value runs, or is seen, later. */
  private assigned(depth: number): string {
    const { random } = this;
    const variable = random.pick(variables);
    const name = this.name();
    const use = random.pick([`$${variable}`, `"$${variable}"`, `\${${variable}}`, `"\${${variable}:-${this.name()}}"`]);
    const assign = random.pick([
      () => `${variable}=${quoted(random, name)}`,
      () => `export ${variable}=${name}`,
      () => `declare ${variable}=${name}`,
      () => `readonly q${variable}=1; ${variable}=${name}`,
      () => `${variable}=${name.slice(0, 2)}; ${variable}+=${name.slice(2)}`,
      () => `${variable}=${quoted(random, `${name} s t`)}`,
      () => `: "\${${variable}:=${name}}"`,
      () => `read ${variable} <<< ${name}`,
      () => `printf -v ${variable} %s ${name}`,
      () => `${variable}=${this.name()}; (${variable}=${this.name()})`,
      () => `${variable}=${this.name()}; false && ${variable}=${this.name()}`,
      () => `${variable}=${this.name()}; true || ${variable}=${this.name()}`,
      () => `${variable}=${this.name()}; ${variable}=${this.name()} :`,
      () => `${variable}=${this.name()}; unset ${variable}`,
      () => `${variable}=${this.name()}; if ${this.simple(0)}; then ${variable}=${this.name()}; fi`,
      () => `${variable}=${this.name()}; while ${this.simple(0)}; do ${variable}=${this.name()}; break; done`,
      () => `${variable}=${this.name()}; ${variable}=${this.name()} | cat`,
      () => `${variable}=${this.name()}; eval ${variable}=${this.name()}`,
      () => `${variable}=${this.name()}; set_it() { ${variable}=${this.name()}; }; set_it`,
      () => `${variable}=${this.name()}; set_it() { local ${variable}=${this.name()}; }; set_it`,
      () => `for ${variable} in ${name} ${this.name()}; do ${use} in-loop; done`,
      () => `set -- ${name} m; "$@"; shift; ${variable}=${name}`,
      () => `IFS=,; ${variable}=${name},s,t`,
    ])();
    return `${assign}${this.separator()}${use} ${this.words(depth)}`;
  }

  private redirect(depth: number): string {
    const { random } = this;
    const file = random.pick(files);
    if (random.oneIn(3)) return this.hereDocument(depth);
    return random.pick([
      () => `> ${file}`,
      () => `>>${quoted(random, file)}`,
      () => `2>&1`,
      () => `2> ${file}`,
      () => `< /dev/null`,
      () => `&> ${file}`,
      () => `>| ${file}`,
      () => `3> ${file}`,
      () => `{fd}> ${file}`,
      () => `<<< ${this.word(depth)}`,
      () => `> "${file}${this.unknown(depth)}"`,
      () => `< <(${this.list(depth - 1, 1)})`,
      () => `> >(${this.list(depth - 1, 1)})`,
    ])();
  }

  private hereDocument(depth: number): string {
    const { random } = this;
    const mark = random.pick(["E", "EOF", "end-1"]);
    const dash = random.oneIn(3);
    const opening = random.pick([
      mark,
      mark,
      mark,
      `'${mark}'`,
      `"${mark}"`,
      `\\${mark}`,
      `${mark.slice(0, 1)}''${mark.slice(1)}`,
    ]);
    const lines: string[] = [];
    for (let count = random.int(3); count > 0; count--) {
      const inner = depth > 0 ? this.list(depth - 1, 1) : this.name();
      lines.push(
        random.pick([
          "plain text; alpha",
          `a $(${inner}) b`,
          `\\$(${this.name()})`,
          `\${none:-$(${this.name()} d)}`,
          `${mark} x`,
          ` ${mark}`,
          "it's \"quoted",
          `'$(${this.name()} q)'`,
          `\`${this.name()} back\``,
          "tail \\",
          "$v $((1+1))",
        ]),
      );
    }
    const tab = dash ? random.pick(["", "\t"]) : "";
    this.bodies.push(`${lines.map((line) => `${tab}${line}\n`).join("")}${tab}${mark}\n`);
    return `${random.pick(["", "", "3"])}<<${dash ? "-" : ""}${random.pick(["", " "])}${opening}`;
  }

  /** A substitution in a place where no analysis can go on knowing: left out of simple texts. */
  private unknown(depth: number): string {
    return this.profile === "any" ? `$(${this.list(depth - 1, 1)})` : "1";
  }

  private words(depth: number): string {
    const words: string[] = [];
    for (let count = this.random.int(3); count >= 0; count--) words.push(this.word(depth));
    return words.join(this.gap());
  }

  private word(depth: number): string {
    const { random } = this;
    const roll = random.int(20);
    if (depth <= 0 || roll < 9) return quoted(random, random.pick(random.oneIn(3) ? awkward : literals));
    if (roll < 11)
      return random.pick([
        "{a,b}",
        "x{1..3}",
        "{p,q{r,s}}t",
        "a{,}",
        "{x}",
        "{a,b",
        "{c..a}",
        "'{'a,b}",
        "{1..5..2}",
        '{"a b",c}',
      ]);
    if (roll < 12) return random.pick(["~", "~/x", "'~'", "a~", "x=~/y", '""', "''"]);
    if (roll < 15) return this.parameter(depth - 1);
    const inner = this.list(depth - 1, 2);
    return random.pick([
      () => `$(${inner})`,
      () => `"$(${inner})"`,
      () => `"a $(${inner}) b"`,
      () => `\`${inner.replace(/[\\`]/g, "\\$&")}\``,
      () => (inner.includes('"') ? `"$( ${inner})"` : `"\`${inner.replace(/[\\`]/g, "\\$&")}\`"`),
      () => `<(${inner})`,
      () => (this.profile === "any" ? `$(( $(${inner}) + 1 ))` : `$(${inner})`),
      () => `x$(${inner})y`,
      () => `$(< f1)`,
      () => `$((echo n); ${inner})`,
    ])();
  }

  private parameter(depth: number): string {
    const { random } = this;
    const known = random.pick(variables);
    const none = random.pick(unset);
    const inner = depth > 0 ? `$(${this.list(depth - 1, 1)})` : "z";
    return random.pick([
      `$${known}`,
      `"$${known}"`,
      `\${${known}}`,
      `"\${${none}:-${inner}}"`,
      `\${${none}-lit}`,
      `\${${known}:+${inner}}`,
      `\${${none}:=${inner}}`,
      `\${#${known}}`,
      `\${${known}#a}`,
      `\${${known}%%${inner}}`,
      `\${${known}/a/${inner}}`,
      `"\${${known}^}"`,
      `\${${known}:1:2}`,
      `\${arr[0]}`,
      `"\${arr[@]}"`,
      `\${arr[$(${this.name()} idx)0]}`,
      "$1",
      '"$@"',
      "$#",
      "$HOME",
      `"$PWD"`,
      "$((1+2))",
    ]);
  }

  /** Commands with their terminator, as the inside of a compound command needs; here-documents may end after it. */
  private closed(depth: number): string {
    const text = this.lines(depth, 2);
    return text + (this.random.oneIn(3) ? this.lineBreak() : this.random.pick(["; ", "; ", " & "]));
  }

  private separator(): string {
    if (this.bodies.length > 0 && this.random.int(3) > 0) return this.lineBreak();
    return this.random.oneIn(3)
      ? this.lineBreak(this.random.pick(["", " # note; alpha"]))
      : this.random.pick(["; ", ";", " & "]);
  }

  private maybeBreak(): string {
    return this.random.oneIn(4) ? this.lineBreak() : "";
  }

  private lineBreak(comment = ""): string {
    const text = `${comment}\n${this.bodies.join("")}`;
    this.bodies = [];
    return text;
  }

  private gap(): string {
    return this.random.pick([" ", " ", " ", "  ", "\t", " \\\n", "\\\n "]);
  }
}
