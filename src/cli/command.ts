import type { Readable } from "node:stream";
import type { ParseArgsOptionsConfig } from "node:util";
import type { RunRequest } from "../core/request.ts";
import type { TerminalSize } from "../core/terminal.ts";
import type { Consent } from "../gateway/authorize.ts";
import type { ShellForm } from "../sandbox/launch-spec.ts";

/** The streams a command reads and writes. Data goes to `out`, everything else to `err`. */
export interface Io {
  out(text: string | Uint8Array): void;
  err(text: string | Uint8Array): void;
  /** Resolves when the output buffers have room. Await it between the chunks of a long stream. Rejects when stdout fails. */
  drained(): Promise<void>;
  stdin: Readable & { isTTY?: boolean };
  isTTY: { stdin: boolean; stdout: boolean; stderr: boolean };
  /** Whether stdout cannot be read: it is /dev/null, which Node also opens when stdout is closed. */
  isDiscarded: boolean;
  columns: number;
  /** The size of the terminal on stdout, if it is that of another process. */
  size?: TerminalSize;
  color: boolean;
}

export interface Invocation {
  values: Record<string, string | boolean | (string | boolean)[] | undefined>;
  positionals: string[];
  /** The arguments after `--`, unparsed. Null when there is no `--`. */
  rest: string[] | null;
  io: Io;
}

/** One command with its help. The help text, the manual page and docs/cli.md are generated from these fields. */
export interface Command {
  name: string;
  /** Imperative, one line, without a final period. */
  summary: string;
  usage: string;
  /** The description below the summary. Blank lines separate paragraphs; other line breaks are not kept. */
  description?: string;
  /** Subcommands by name, with a summary each. */
  actions?: Record<string, string>;
  options: ParseArgsOptionsConfig;
  /** The description of each option. A prefix such as `DUR: ` names the value of an option that takes one. */
  help?: Record<string, string>;
  /** Options by group title. Options that are in no group come first, under `Options`. */
  groups?: Record<string, readonly string[]>;
  /** Further sections by title: prose, or pairs of a term and its meaning. */
  sections?: Record<string, string | readonly (readonly [term: string, meaning: string])[]>;
  /** Command lines to copy, each with a comment. */
  examples: readonly (readonly [comment: string, line: string])[];
  /** The values of options that accept only a few. Used for completion; the command itself checks the value. */
  choices?: Record<string, readonly string[]>;
  /** Whether the first positional argument ends the options, as if it followed `--`. */
  takesCommandLine?: boolean;
  /** Whether all arguments are those of another program, and are not parsed. */
  passesArguments?: boolean;
  /** The exit code of every failure, for a caller to which other codes mean consent. */
  failureCode?: number;
  run(invocation: Invocation): Promise<number>;
  /**
   * Returns the request if `run` would only start this command and stream its output, and null otherwise. The resident
   * gateway then starts it, and the native client prints the output. Throws like `run`. `session` is the ID of the
   * session that will be started.
   */
  planned?(invocation: Invocation, session: string): PlannedCommand | null;
}

/** A command that is started, and whose output is streamed. */
export interface PlannedCommand {
  request: RunRequest;
  /** Whether escape sequences are printed unchanged on a terminal. */
  raw: boolean;
  /** Whether the command runs in the background and only its ID is printed. */
  detached?: boolean;
  /** Default: where an approval is required, Node runs the command line and waits for the decision. */
  approvalTimeoutMs?: number;
  /** The approval that the user of an agent host has given, and the environment that it is bound to. */
  consented?: { consent?: Consent; env?: Record<string, string> };
  /** How bash runs the text of the request, for a command that acts as a shell. */
  shell?: ShellForm | null;
  /** Default: the caller's working directory. */
  workspace?: string;
  /** Whether the command ends when the caller is killed, as that of a shell does with its process group. */
  endsWithCaller?: boolean;
  /** Called when Node is used instead, and nothing has been recorded. */
  release?(): void;
  /** Called after the command has ended. */
  finish?(): void;
}

/** An error in the command line itself. `main` adds a pointer to the command's help. */
export class UsageError extends Error {}
