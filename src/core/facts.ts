/** The facts that shell/ extracts from command text and that policy/ evaluates. Plain data, no logic. */

/** A half-open range of UTF-16 offsets in the text that was given. */
export interface Span {
  start: number;
  end: number;
}

/** Something the analysis cannot know before the command runs, and the part of the text that makes it so. */
export interface Unknown {
  span: Span;
  why: string;
  /**
   * A shell is handed code that is not in the text: it comes down a pipe. Asked about even where the kernel confines.
   */
  piped?: true;
  /** There is more of it than is looked at: what is in it was not judged. */
  over?: true;
}

/** One word after everything that can be known about its expansion was applied. */
export interface Word {
  /** As written. */
  source: string;
  /** The value the program would receive, or null where it cannot be known. */
  value: string | null;
  /** The part of the value that is certain, from its start ("" when nothing is). Equals `value` when known. */
  prefix: string;
  /** The whole value it would likely have (a default, a value set in one branch), where that is not certain. */
  likely?: string;
  /** An unquoted glob is in the value: it stands for whatever matches at run time. */
  glob: boolean;
  span: Span;
}

export interface Redirect {
  kind: "read" | "write" | "append" | "read-write" | "duplicate" | "here";
  fd: number | null;
  target: Word | null;
  /** The target as a normalized absolute path; null when it is not a path or cannot be determined. */
  path: string | null;
  span: Span;
}

/** A file or folder that the command acts on, according to its arguments. */
export interface Target {
  effect: "delete" | "write" | "mode";
  /** Normalized and absolute. If symbolic links lead elsewhere, a second target has the resolved path. */
  path: string;
  /** True when the path contains an unquoted glob. */
  glob: boolean;
  /** True when the command also acts on everything below the path. */
  recursive: boolean;
  span: Span;
}

export interface CommandFact {
  argv: Word[];
  executable: {
    /** The command word's value as written (`/bin/../bin/rm`, `rm`); null where it cannot be known. */
    written: string | null;
    /** Its last path component; what rules match on. */
    name: string | null;
    /** Where it was found, links followed; null for builtins, functions and what was not found. */
    resolved: string | null;
    kind: "external" | "builtin" | "function" | "keyword" | "not-found" | "unknown";
  };
  /** The wrappers this command was found inside, outermost first (`["sudo", "env"]`). */
  via: string[];
  redirects: Redirect[];
  /** `NAME=value` before the command or given to env. */
  assignments: { name: string; value: Word }[];
  /** The working directory the command would start in, as far as `cd` and friends let it be known. */
  cwd: string | null;
  background: boolean;
  /** One side of a pipe: runs at the same time as its neighbours. */
  piped: boolean;
  /** Does nothing itself but start the commands found inside it (`nice`, `env`, `timeout`). */
  wrapper: boolean;
  /** Runs on another machine or in a container (ssh, docker exec, kubectl exec). */
  remote: boolean;
  /** Hands code to an interpreter that is not analysed (`python -c`, `awk '…'`), and which. */
  opaque: string | null;
  /** Why parts of it cannot be known. Empty: this command is known completely. */
  unknowns: Unknown[];
  /** Evident effects, as normalised paths or host names. `deletes` and `writes` are short for `targets`. */
  targets: Target[];
  network: string[];
  deletes: string[];
  writes: string[];
  span: Span;
}

export interface Analysis {
  text: string;
  /** False when it cannot be determined what would run. Such a text is never considered harmless. */
  analyzable: boolean;
  unknowns: Unknown[];
  commands: CommandFact[];
}
