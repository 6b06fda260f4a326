import type { CommandFact, Span } from "./facts.ts";

/** In falling severity. `blocked` is lifted by nothing (promise 3). */
export type Decision = "blocked" | "deny" | "ask" | "allow";

export interface Reason {
  /** Stable id of the rule, such as `delete-root`. */
  rule: string;
  /** For a person. */
  message: string;
  /** Which part of the command is the matter. */
  span: Span | null;
  /** A safe way to get what was probably wanted. */
  suggestion: string | null;
}

export interface Verdict {
  command: string;
  verdict: Decision;
  analyzable: boolean;
  reasons: Reason[];
  commands: CommandFact[];
}

export type Security = "deny" | "allowlist" | "full";
export type Ask = "off" | "on-miss" | "always";

export interface Modes {
  security: Security;
  ask: Ask;
}

/** What an operator writes about commands: plain data, as the configuration brings it and the console shows it. */

export interface AllowEntry {
  /** A glob over the resolved path (`/usr/bin/git`, `/opt/tools/**`), or a bare name that is only good for a call by PATH. */
  pattern: string;
  /** Patterns for the arguments, one per word, separated by blanks; a last `**` takes any further words. */
  args?: string;
  /** Only when the command starts in this folder or below. */
  cwd?: string;
  /** ISO time after which the entry counts no more. */
  expires?: string;
  /** Only for this agent. */
  agent?: string;
  note?: string;
  /** ISO time; kept by the gateway, not judged. */
  lastUsed?: string;
}

export interface UserRule {
  /** Shown as the rule's name; `user-rule` if left out. */
  id?: string;
  /** The first words of a command, in order; a list stands for any one of its words. */
  prefix?: readonly (string | readonly string[])[];
  /** Patterns for all words of a command, separated by blanks. */
  pattern?: string;
  decision: "allow" | "ask" | "deny";
  message?: string;
  /** Commands that must match, and must not: checked when the policy loads. */
  match?: readonly string[];
  not_match?: readonly string[];
}

export interface Policy extends Partial<Modes> {
  allowlist?: readonly AllowEntry[];
  rules?: readonly UserRule[];
  /** Which of the built-in text filters need no entry; null or left out: all of them. */
  safeBins?: readonly string[] | null;
  /** Ids of default denials that a person has lifted: they are asked then, never run by themselves. */
  permits?: readonly string[];
  /** Modes of single agents; each can only tighten. */
  agents?: Readonly<Record<string, Partial<Modes>>>;
}
