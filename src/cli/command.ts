import type { Readable } from "node:stream";
import type { ParseArgsOptionsConfig } from "node:util";

/** The terminal (or pipe) a command talks to. Data goes to `out`, the rest to `err`. */
export interface Io {
  out(text: string | Uint8Array): void;
  err(text: string | Uint8Array): void;
  /** Resolves when there is room for more: await it between the pieces of a long stream. Rejects when stdout is gone. */
  drained(): Promise<void>;
  stdin: Readable & { isTTY?: boolean };
  isTTY: { stdin: boolean; stdout: boolean; stderr: boolean };
  columns: number;
  color: boolean;
}

export interface Invocation {
  values: Record<string, string | boolean | (string | boolean)[] | undefined>;
  positionals: string[];
  /** What followed `--`, untouched; null when there was no `--`. */
  rest: string[] | null;
  io: Io;
}

/** One subcommand: its own help, its own options, one function. */
export interface Command {
  name: string;
  summary: string;
  usage: string;
  options: ParseArgsOptionsConfig;
  /** What each option means, for --help. `DUR: how long` also names the option's value. */
  help?: Record<string, string>;
  examples: string[];
  /** What the options do not say, after the examples. */
  notes?: string;
  /** The words that may come first, where there are such. */
  actions?: readonly string[];
  /** The values an option takes, where they are few. For completion only: the option's own check decides. */
  choices?: Record<string, readonly string[]>;
  /** The first argument that is not an option ends the options, as if `--` stood before it. */
  takesCommandLine?: boolean;
  run(invocation: Invocation): Promise<number>;
}

/** The command line itself is wrong. `main` adds where the help is. */
export class UsageError extends Error {}
