import type { Readable } from "node:stream";
import type { ParseArgsOptionsConfig } from "node:util";

/** The terminal (or pipe) a command talks to. Data goes to `out`, the rest to `err`. */
export interface Io {
  out(text: string | Uint8Array): void;
  err(text: string): void;
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
  /** What each option means, for --help. */
  help?: Record<string, string>;
  examples: string[];
  run(invocation: Invocation): Promise<number>;
}
