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

/** An allowlist entry of the configuration. */
export interface AllowEntry {
  /**
   * A glob for the resolved path (`/usr/bin/git`, `/opt/tools/**`), or a name, which matches only a call through PATH.
   */
  pattern: string;
  /** Patterns separated by blanks, one per argument. A final `**` matches any further arguments. */
  args?: string;
  /** The entry applies only if the command starts in this folder or below. */
  cwd?: string;
  /** ISO time after which the entry no longer applies. */
  expires?: string;
  /** The entry applies only to this agent. */
  agent?: string;
  note?: string;
  /** ISO time of the last use, recorded by the gateway. Not evaluated. */
  lastUsed?: string;
}

/** A rule of the configuration. */
export interface UserRule {
  /** The rule id to display; default: `user-rule`. */
  id?: string;
  /** The program and first arguments of a command, in order. A list matches any one of its items. */
  prefix?: readonly (string | readonly string[])[];
  /** Patterns for the program and all arguments, separated by blanks. */
  pattern?: string;
  decision: "allow" | "ask" | "deny";
  message?: string;
  /** Commands that must match (`match`) or must not match (`not_match`). Checked when the policy is loaded. */
  match?: readonly string[];
  not_match?: readonly string[];
}

export interface Policy extends Partial<Modes> {
  allowlist?: readonly AllowEntry[];
  rules?: readonly UserRule[];
  /** The built-in text filters that need no allowlist entry; default: all of them. */
  safeBins?: readonly string[] | null;
  /** Ids of built-in denials that the operator has relaxed: such commands require approval instead. */
  permits?: readonly string[];
  /** Stricter modes for individual agents. */
  agents?: Readonly<Record<string, Partial<Modes>>>;
}
