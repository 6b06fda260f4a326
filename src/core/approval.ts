import type { Span } from "./facts.ts";

/** Approval requests, decisions and standing grants. Plain data, no logic. */

/** `approved` may be used once, until it expires; `expired` counts as denied. */
export type ApprovalStatus = "pending" | "approved" | "denied" | "expired" | "used";

/**
 * A text that is safe to display: control, bidirectional and invisible characters and long runs of blanks are replaced
 * by a description in `‹…›`. Line breaks are kept and are the only control character in it.
 */
export interface ShownText {
  text: string;
  /** The parts of `text` that replace characters of the original. */
  marks: Span[];
}

/** One command that would run, for display. */
export interface ShownCommand {
  /** The program and its arguments, quoted where necessary. */
  text: string;
  /** The resolved path, such as `/usr/bin/rm`, or a description (`shell builtin`, `not found`, `unknown`). */
  program: string;
  /** The working directory it starts in; null when it cannot be determined. */
  cwd: string | null;
  /** The wrappers it was found inside, outermost first. */
  via: string[];
  /** Remarks: it runs on another machine, passes code to an interpreter, or cannot be analyzed. */
  notes: string[];
}

/** A file whose content or identity the approval is bound to. */
export interface CoveredFile {
  path: string;
  role: "program" | "interpreter" | "script" | "project file";
  /** Null when the file is too large to hash; the approval is then bound to its path, size and times. */
  sha256: string | null;
}

/** Everything a person needs to decide, and nothing that can deceive (promise 2). */
export interface ApprovalRequest {
  agent: string;
  command: ShownText;
  /** What it would run, as far as that can be known. */
  commands: ShownCommand[];
  /** False: it cannot be known completely what would run. */
  analyzable: boolean;
  cwd: string;
  /** Variables added to the environment; secret-looking values are masked. */
  environment: { name: string; value: string }[];
  /** What it is given on stdin, where that is given whole. */
  stdin: ShownText | null;
  confinement: string;
  /** Why it is asked; spans are in `command.text`. */
  reasons: { rule: string; message: string; span: Span | null }[];
  /** What the agent says it is for. The agent's words, not a fact. */
  intent: ShownText | null;
  covers: CoveredFile[];
  /** It was approved before and not used, because this had changed since. */
  changed: string[];
  /** Whether it can be allowed for good, and what exactly that would allow. */
  always: Grantable;
}

export interface Approval {
  id: string;
  agent: string;
  status: ApprovalStatus;
  createdAt: string;
  /** A pending one is denied then; an approved one can no longer be used. */
  expiresAt: string;
  decidedAt: string | null;
  request: ApprovalRequest;
  quorum: Quorum;
  decisions: RecordedDecision[];
  /** Why it was denied, in the words of who denied it. */
  reason: string | null;
  /** The session it was used for. */
  session: string | null;
}

/** `any`: the first word decides. Otherwise so many of the named approvers, each counted once. */
export interface Quorum {
  rule: "any" | "majority" | "unanimous";
  /** Empty (only with `any`): every person. */
  approvers: readonly string[];
}

/** The channels through which people decide. Agents have no access to any of them. */
export const PERSON_CHANNELS = ["cli", "terminal", "console", "http", "library", "mcp-host"] as const;
type PersonChannel = (typeof PERSON_CHANNELS)[number];

export interface ApprovalDecision {
  decision: "once" | "always" | "deny";
  who: string;
  channel: PersonChannel;
  /** Goes back to the agent. */
  reason?: string | undefined;
  /** With `always`: how wide, and for how long. */
  grant?: GrantScope | undefined;
}

export interface GrantScope {
  /**
   * `exact` (default), or one pattern per argument: `*` matches any text without `/`, `**` any text. A final `**` also
   * matches any further arguments.
   */
  args?: "exact" | string[] | undefined;
  /** Milliseconds from now; default: never expires. */
  expiresMs?: number | undefined;
}

export type RecordedDecision = ApprovalDecision & { at: string };

/** A command that a grant applies to. */
export interface GrantTarget {
  /** The resolved path of the program. */
  executable: string;
  args: string[];
  cwd: string;
  /** True when the command is part of a pipeline. A grant for the command alone does not apply inside a pipeline. */
  piped: boolean;
}

export type Grantable = { ok: true; commands: GrantTarget[] } | { ok: false; why: string };

/** What a person allowed for good. */
export interface Grant {
  id: string;
  agent: string;
  executable: string;
  args: { kind: "exact"; values: string[] } | { kind: "pattern"; patterns: string[] };
  cwd: string;
  piped: boolean;
  createdAt: string;
  createdBy: string;
  expiresAt: string | null;
  lastUsedAt: string | null;
  revokedAt: string | null;
  /** The approval it came from. */
  approval: string | null;
  /** False: the program is no longer the one it was granted for, so it is asked about again. */
  current: boolean;
}

/** The error types of approvals and grants. */
export type ApprovalErrorType =
  | "ApprovalNotFound"
  | "AlreadyDecided"
  | "NotAnApprover"
  | "SelfApproval"
  | "NotGrantable"
  | "GrantNotFound";
