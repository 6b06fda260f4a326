/** The facts that shell/ extracts from command text and that policy/ evaluates. Plain data, no logic. */

/**
 * A range of a text in UTF-16 code units, as `String.prototype.slice` takes it.
 *
 * @example
 * ```ts
 * const { command, reasons } = gateway.check("echo hi && rm -rf /etc");
 * const span = reasons[0]?.span;
 * if (span) console.log(command.slice(span.start, span.end)); // /etc
 * ```
 */
export interface Span {
  /** The offset of the first code unit. */
  start: number;
  /** The offset after the last code unit. */
  end: number;
}

/**
 * Something that the analysis of a command cannot determine before it runs.
 *
 * @example
 * ```ts
 * const { commands } = gateway.check('rm "$(cat list.txt)"');
 * for (const { why } of commands.flatMap(({ unknowns }) => unknowns)) console.log(why);
 * ```
 */
export interface Unknown {
  /** The part of the text that cannot be determined. */
  span: Span;
  /** The reason, for people. */
  why: string;
  /**
   * Set when code comes from another machine, or reaches a shell through a pipe, and was never visible. Such a command
   * requires approval even in a sandbox.
   */
  piped?: true;
  /** Set when the value comes from another machine, such as the output of `curl`. */
  remote?: true;
  /** Set when the value comes from the standard input of the whole command. */
  input?: true;
  /** Set when the text exceeds a limit of the analysis, so that the rest was not analyzed. */
  over?: true;
}

/**
 * One word of a command after all expansions that can be determined, such as quotes, variables and `~`.
 *
 * @example
 * ```ts
 * const [word] = gateway.check("ls 'my file'").commands[0]?.argv.slice(1) ?? [];
 * console.log(word?.source, word?.value); // 'my file' my file
 * ```
 */
export interface Word {
  /** The word as written. */
  source: string;
  /** The value that the program would receive. Null when it cannot be determined. */
  value: string | null;
  /** The beginning of the value, as far as it is certain. Equal to `value` when that is known. */
  prefix: string;
  /** A likely value, such as a default or a value set in one branch, when `value` is not certain. */
  likely?: string;
  /** True when the value contains an unquoted glob, which the shell replaces by matching paths. */
  glob: boolean;
  /** The position of the word in the text. */
  span: Span;
}

/** A redirection of a command. */
export interface Redirect {
  /** The kind: `>` is `write`, `>>` is `append`, `2>&1` is `duplicate`, `<<` is `here`. */
  kind: "read" | "write" | "append" | "read-write" | "duplicate" | "here";
  /** The file descriptor. Null when none is written. */
  fd: number | null;
  /** The target as written. Null for a here-document. */
  target: Word | null;
  /** The target as a normalized absolute path. Null when it is not a path or cannot be determined. */
  path: string | null;
  /** The position of the redirection in the text. */
  span: Span;
}

/** A file or folder that the command acts on, according to its arguments. */
export interface Target {
  /** What the command does to it: delete it, write it, or change its mode or owner. */
  effect: "delete" | "write" | "mode";
  /** The path, normalized and absolute. If symbolic links lead elsewhere, a second target has the resolved path. */
  path: string;
  /** True when the path contains an unquoted glob. */
  glob: boolean;
  /** True when the command also acts on everything below the path. */
  recursive: boolean;
  /** The position of the argument in the text. */
  span: Span;
}

/**
 * One command found in a command text, including those inside wrappers such as `sudo` or `xargs`.
 *
 * @example
 * ```ts
 * const { commands } = gateway.check("cat notes.txt | sudo tee /etc/motd");
 * console.log(commands.map(({ executable }) => executable.name)); // [ 'cat', 'sudo', 'tee' ]
 * console.log(commands[2]?.via, commands[2]?.writes); // [ 'sudo' ] [ '/etc/motd' ]
 * ```
 */
export interface CommandFact {
  /** The program and its arguments. */
  argv: Word[];
  /** The program. */
  executable: {
    /** The program as written, such as `/bin/../bin/rm` or `rm`. Null when it cannot be determined. */
    written: string | null;
    /** The last component of the path, which rules match. Null when it cannot be determined. */
    name: string | null;
    /** The path of the program with symbolic links resolved. Null for builtins, functions and unknown programs. */
    resolved: string | null;
    /** How the shell would run it. */
    kind: "external" | "builtin" | "function" | "keyword" | "not-found" | "unknown";
  };
  /** The wrappers that the command was found inside, outermost first, such as `["sudo", "env"]`. */
  via: string[];
  /** The redirections. */
  redirects: Redirect[];
  /** Variables set by `NAME=value` before the command or by `env`. */
  assignments: { name: string; value: Word }[];
  /** The working directory it starts in. Null when it cannot be determined. */
  cwd: string | null;
  /** True when the shell does not wait for the command (`&`). */
  background: boolean;
  /** True when the command is part of a pipeline. */
  piped: boolean;
  /** True when the command only starts other commands, such as `nice`, `env` or `timeout`. */
  wrapper: boolean;
  /** True when the command runs on another machine or in a container (`ssh`, `docker exec`, `kubectl exec`). */
  remote: boolean;
  /** The interpreter that receives code that is not analyzed (`python -c`, `awk`). Null when there is none. */
  opaque: string | null;
  /** The parts that cannot be determined. Empty when the command is known completely. */
  unknowns: Unknown[];
  /** The files and folders that it changes, according to its arguments and redirections. */
  targets: Target[];
  /** The hosts that it connects to, according to its arguments and redirections. */
  network: string[];
  /** The paths of `targets` that are deleted. */
  deletes: string[];
  /** The paths of `targets` that are written. */
  writes: string[];
  /** The position of the command in the text. */
  span: Span;
}

export interface Analysis {
  text: string;
  /** False when it cannot be determined what would run. Such a text is never considered harmless. */
  analyzable: boolean;
  unknowns: Unknown[];
  commands: CommandFact[];
}
