/** The arguments of a program that is called in place of bash. */
export interface ShellArguments {
  /** What the shell runs: the text of `-c`, a script file, or its standard input. */
  kind: "command" | "script" | "stdin";
  /** The text of `-c`. Empty otherwise. */
  command: string;
  /** The script file and its arguments, or for a text and standard input `$0` and the positional parameters. */
  parameters: string[];
  /** The options without `-c` and `-s`. */
  options: string[];
  interactive: boolean;
  /** Whether the options do not change what the text of `-c` means, so that it can be judged on its own. */
  plain: boolean;
}

/** Letters of options that change how a command fails or what is printed, but not what it means. */
const PLAIN_LETTERS = /^[leiuxvhmB]$/;
const PLAIN_NAMES =
  /^(?:errexit|nounset|pipefail|xtrace|verbose|errtrace|functrace|hashall|monitor|braceexpand|notify|interactive-comments)$/;
const PLAIN_LONG = new Set(["--login", "--norc", "--noprofile", "--noediting", "--verbose"]);
const LONG_WITH_VALUE = new Set(["--rcfile", "--init-file"]);

/** Reads arguments as bash does: long options first, then letters; the text of `-c` is the first argument after them. */
export function readShellArguments(argv: readonly string[]): ShellArguments | { problem: string } {
  const options: string[] = [];
  const letters = new Set<string>();
  let plain = true;
  let i = 0;
  for (; argv[i]?.startsWith("--") && argv[i] !== "--"; i++) {
    const option = argv[i] as string;
    options.push(option);
    plain &&= PLAIN_LONG.has(option);
    if (!LONG_WITH_VALUE.has(option)) continue;
    const value = argv[++i];
    if (value === undefined) return { problem: `${option}: option requires an argument` };
    options.push(value);
  }
  for (; i < argv.length; i++) {
    const word = argv[i] as string;
    if (word === "--" || word === "-") {
      i++;
      break;
    }
    if (!/^[-+]./.test(word)) break;
    const sign = word[0] as string;
    for (const letter of word.slice(1)) {
      if (sign === "-" && (letter === "c" || letter === "s")) {
        letters.add(letter);
        continue;
      }
      options.push(`${sign}${letter}`);
      if (sign === "-") letters.add(letter);
      if (letter !== "o" && letter !== "O") {
        plain &&= PLAIN_LETTERS.test(letter);
        continue;
      }
      const value = argv[i + 1];
      // Without a name, bash prints the options.
      if (value === undefined) continue;
      i++;
      options.push(value);
      plain &&= letter === "o" && PLAIN_NAMES.test(value);
    }
  }
  const rest = argv.slice(i);
  const interactive = letters.has("i");
  if (letters.has("c")) {
    const [command, ...parameters] = rest;
    if (command === undefined) return { problem: "-c: option requires an argument" };
    return { kind: "command", command, parameters, options, interactive, plain };
  }
  const kind = letters.has("s") || rest.length === 0 ? "stdin" : "script";
  return { kind, command: "", parameters: rest, options, interactive, plain };
}
