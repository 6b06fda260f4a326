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
