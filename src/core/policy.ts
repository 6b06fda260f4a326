import type { CommandFact, Span } from "./facts.ts";
import type { SandboxEnforcement } from "./sandbox-level.ts";

/**
 * What policy decides about a command, from strictest to least strict.
 *
 * - `blocked`: never runs. Neither configuration nor approval can override it.
 * - `deny`: does not run under the current policy.
 * - `ask`: requires approval.
 * - `allow`: runs.
 *
 * @example
 * ```ts
 * console.log(gateway.check("rm -rf /").verdict); // blocked
 * console.log(gateway.check("ls").verdict); // allow
 * ```
 */
export type Decision = "blocked" | "deny" | "ask" | "allow";

/**
 * A reason for a verdict.
 *
 * @example
 * ```ts
 * const [reason] = gateway.check("rm -rf /").reasons;
 * console.log(reason?.rule); // delete-vital
 * ```
 */
export interface Reason {
  /** The stable ID of the rule, such as `delete-vital`. */
  rule: string;
  /** The reason, for people. */
  message: string;
  /** The part of the command that the rule applies to. Null when it applies to the whole command. */
  span: Span | null;
  /** A safer alternative. Null when there is none. */
  suggestion: string | null;
}

/**
 * The result of checking a command against policy.
 *
 * @example
 * ```ts
 * const verdict = gateway.check("curl https://example.com/install.sh | sh");
 * console.log(verdict.verdict, verdict.analyzable); // ask false
 * for (const { message, suggestion } of verdict.reasons) console.log(message, suggestion);
 * ```
 */
export interface Verdict {
  /** The command text, or the program and its arguments, quoted. */
  command: string;
  /** The decision. */
  verdict: Decision;
  /** False when it cannot be determined completely what would run. */
  analyzable: boolean;
  /** The reasons for the decision. Empty for most allowed commands. */
  reasons: Reason[];
  /** The commands that would run. */
  commands: CommandFact[];
  /** How much of the command's sandbox this machine enforces. Only in the result of a check. */
  sandbox?: SandboxEnforcement;
}

/**
 * The security mode: which commands run without approval. With `full`, these are all commands that no rule refuses;
 * with `allowlist`, those on the allowlist. `deny` denies every command.
 *
 * @example
 * ```ts
 * const { security } = gateway.policy;
 * console.log(security); // full
 * ```
 */
export type Security = "deny" | "allowlist" | "full";

/**
 * The approval mode: which commands require approval. With `on-miss`, these are the commands that the security mode
 * does not allow; with `always`, all commands. With `off`, commands that the security mode does not allow are denied;
 * those that match an `ask` rule still require approval.
 *
 * @example
 * ```ts
 * console.log(gateway.check("ls", { ask: "always" }).verdict); // ask
 * ```
 */
export type Ask = "off" | "on-miss" | "always";

export interface Modes {
  security: Security;
  ask: Ask;
}

/** An allowlist entry of the configuration. See docs/policy.md. */
export interface AllowEntry {
  /**
   * A glob for the resolved path (`/usr/bin/git`, `/opt/tools/**`), or a name, which matches only a call through PATH.
   */
  pattern: string;
  /** Patterns separated by blanks, one per argument. A final `**` matches any further arguments. */
  args?: string;
  /** The entry applies only if the command starts in this folder or below. */
  cwd?: string;
  /** When the entry stops applying (ISO 8601). */
  expires?: string;
  /** The entry applies only to this agent. */
  agent?: string;
  /** A note for people. Not evaluated. */
  note?: string;
  /** The time of the last use (ISO 8601), recorded by the gateway. Not evaluated. */
  lastUsed?: string;
}

/** A rule of the configuration. See docs/policy.md. */
export interface UserRule {
  /** The rule ID to display. Default: `user-rule`. */
  id?: string;
  /** The program and first arguments of a command, in order. A list matches any one of its items. */
  prefix?: readonly (string | readonly string[])[];
  /** Patterns for the program and all arguments, separated by blanks. */
  pattern?: string;
  /** The decision for matching commands. */
  decision: "allow" | "ask" | "deny";
  /** The reason to display. */
  message?: string;
  /** Commands that must match, as a test of the rule. Checked when the policy is loaded. */
  match?: readonly string[];
  /** Commands that must not match, as a test of the rule. Checked when the policy is loaded. */
  not_match?: readonly string[];
}

export interface Policy extends Partial<Modes> {
  allowlist?: readonly AllowEntry[];
  rules?: readonly UserRule[];
  /** The built-in text filters that need no allowlist entry; default: all of them. */
  safeBins?: readonly string[] | null;
  /** IDs of built-in denials that the operator has relaxed: such commands require approval instead. */
  permits?: readonly string[];
  /** Stricter modes for individual agents. */
  agents?: Readonly<Record<string, Partial<Modes>>>;
}
