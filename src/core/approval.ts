import type { Span } from "./facts.ts";

/** What a person is asked, what they may answer, and what they allowed for good. Plain data, no logic. */

/** `approved` may be used once, until it expires; `expired` counts as denied. */
export type ApprovalStatus = "pending" | "approved" | "denied" | "expired" | "used";

/**
 * A text that cannot deceive: control, bidirectional and invisible characters and long runs of blanks are written out
 * as `‹…›`. Line breaks stay, and are the only control character in it.
 */
export interface ShownText {
  text: string;
  /** Where in `text` something was written out that the original does not hold as such. */
  marks: Span[];
}

/** One command that would run. */
export interface ShownCommand {
  /** Its words, quoted where needed. */
  text: string;
  /** `/usr/bin/rm`, or in words what it is instead (`shell builtin`, `not found`, `unknown`). */
  program: string;
  /** The folder it starts in; null where that cannot be known. */
  cwd: string | null;
  /** The wrappers it was found inside, outermost first. */
  via: string[];
  /** What else matters about it: runs elsewhere, hands code to an interpreter, cannot be known. */
  notes: string[];
}

/** A file whose content or identity the approval is bound to. */
export interface CoveredFile {
  path: string;
  role: "program" | "interpreter" | "script" | "project file";
  /** Null: too large to read; bound by its place, size and times instead. */
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

/** Where persons decide. Nothing an agent can speak through is among them. */
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
  /** `exact` (default), or one pattern per argument: `*` any text without `/`, `**` any text or, as the last, the rest. */
  args?: "exact" | string[] | undefined;
  /** From now; for good when left out. */
  expiresMs?: number | undefined;
}

export type RecordedDecision = ApprovalDecision & { at: string };

/** One command as a grant names it. */
export interface GrantTarget {
  /** Resolved path. */
  executable: string;
  args: string[];
  cwd: string;
  /** One side of a pipe. What was granted alone is not granted inside one. */
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

/** Every way an approval or grant can fail. */
export type ApprovalErrorType =
  | "ApprovalNotFound"
  | "AlreadyDecided"
  | "NotAnApprover"
  | "SelfApproval"
  | "NotGrantable"
  | "GrantNotFound";
