import type { Span } from "./facts.ts";

/** Approval requests, decisions and standing grants. Plain data, no logic. */

/**
 * The state of an approval request.
 *
 * - `pending`: undecided.
 * - `approved`: the request can be submitted again once, until the approval expires.
 * - `used`: the approval was used to run the command.
 * - `denied`: a person refused the request.
 * - `expired`: the request or the unused approval has expired. Treated as denied.
 *
 * @example
 * ```ts
 * const result = await gateway.run({ command: "echo hi", ask: "always" }, { approvalTimeoutMs: 0 });
 * console.log(result.status); // pending
 * console.log(gateway.approvals.list({ status: "pending" }).length); // 1
 * ```
 */
export type ApprovalStatus = "pending" | "approved" | "denied" | "expired" | "used";

/**
 * A text that is safe to display: control, bidirectional and invisible characters, letters that look like ASCII or are
 * written from right to left, and long runs of blanks are replaced by a description in `‹…›`. Line breaks are kept and are the only control character in it.
 */
export interface ShownText {
  /** The text to display. */
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
  /** The working directory it starts in. Null when it cannot be determined. */
  cwd: string | null;
  /** The wrappers it was found inside, outermost first. */
  via: string[];
  /** Remarks: it runs on another machine, passes code to an interpreter, or cannot be analyzed. */
  notes: string[];
}

/** A file whose content or identity the approval is bound to. */
export interface CoveredFile {
  /** The path of the file. */
  path: string;
  /** How the command uses the file. */
  role: "program" | "interpreter" | "script" | "project file" | "file" | "folder";
  /**
   * The hash of the content, or of the listing of a folder. Null when the file is too large to hash or cannot be read;
   * its path, size and times are checked instead.
   */
  sha256: string | null;
}

/**
 * The information that an approver needs to decide about a command. Texts that the agent controls are escaped, so that
 * they cannot hide a part of the command.
 *
 * @example
 * ```ts
 * gateway.approvals.onRequest(({ id, request }) => console.log(id, request.command.text, request.reasons));
 * await gateway.run({ command: "echo hi", ask: "always" }, { approvalTimeoutMs: 0 });
 * ```
 */
export interface ApprovalRequest {
  /** The agent that wants to run the command. */
  agent: string;
  /** The command, or the operation on a session. */
  command: ShownText;
  /** The commands that would run, as far as they can be determined. */
  commands: ShownCommand[];
  /** False when it cannot be determined completely what would run. */
  analyzable: boolean;
  /** The working directory. */
  cwd: string;
  /** Variables added to the environment. Values that look like secrets are masked. */
  environment: { name: string; value: string }[];
  /** The text passed on stdin. Null when the request contains none. */
  stdin: ShownText | null;
  /** The sandbox, as text. */
  confinement: string;
  /** Why approval is required. Spans refer to `command.text`. */
  reasons: { rule: string; message: string; span: Span | null }[];
  /** The purpose stated by the agent, which is not verified. Null when none was stated. */
  intent: ShownText | null;
  /** The files that the approval is bound to. If one changes, the approval cannot be used. */
  covers: CoveredFile[];
  /**
   * What the command reads that may change before it runs without being noticed, such as files whose names are known
   * only at run time. Usually empty.
   */
  unbound: string[];
  /** The changes since an earlier approval of the same command that was not used. Usually empty. */
  changed: string[];
  /** Whether the decision can be `always`, and which commands would then be granted. */
  always: Grantable;
}

/**
 * An approval request and its decision.
 *
 * @example
 * ```ts
 * const request = { command: "echo deployed", ask: "always" } as const;
 * const { approvalId } = await gateway.run(request, { approvalTimeoutMs: 0 });
 * if (approvalId) {
 *   const approval = gateway.approvals.decide(approvalId, { decision: "once", who: "ann", channel: "library" });
 *   console.log(approval.status); // approved
 * }
 * const { output } = await gateway.run(request);
 * console.log(output.trim()); // deployed
 * ```
 */
export interface Approval {
  /** The unique ID. */
  id: string;
  /** The agent that made the request. */
  agent: string;
  /** The current state. */
  status: ApprovalStatus;
  /** The time of the request (ISO 8601). */
  createdAt: string;
  /** When a pending request is denied, or when an unused approval can no longer be used (ISO 8601). */
  expiresAt: string;
  /** The time of the decision (ISO 8601). Null while the request is pending. */
  decidedAt: string | null;
  /** The information shown to the approver. */
  request: ApprovalRequest;
  /** The number of approvers that must approve the request. */
  quorum: Quorum;
  /** The decisions so far, oldest first. */
  decisions: RecordedDecision[];
  /** The reason given by the person who denied the request. Null when there is none. */
  reason: string | null;
  /** The ID of the session that the approval was used for. Null while it is unused. */
  session: string | null;
}

/**
 * The number of approvers that must approve a request: any one person, or a majority or all of the named approvers.
 *
 * @example
 * ```ts
 * const guarded = await openGateway({
 *   policy: { approvals: { quorum: { rule: "majority", approvers: ["ann", "bo", "cy"] } } },
 * });
 * await guarded.run({ command: "echo hi", ask: "always" }, { approvalTimeoutMs: 0 });
 * console.log(guarded.approvals.list()[0]?.quorum.rule); // majority
 * await guarded.close();
 * ```
 */
export interface Quorum {
  /** `any` accepts the first decision. With the other rules, each approver counts once. */
  rule: "any" | "majority" | "unanimous";
  /** The names of the approvers. Empty if every person is an approver, which requires the rule `any`. */
  approvers: readonly string[];
}

/** The channels through which people decide. Agents have no access to any of them. */
export const PERSON_CHANNELS = ["cli", "terminal", "console", "http", "library", "mcp-host", "hook"] as const;
/** The surface on which a person decides. */
type PersonChannel = (typeof PERSON_CHANNELS)[number];

/**
 * A person's decision about an approval request.
 *
 * @example
 * ```ts
 * import type { ApprovalDecision } from "sallyport";
 *
 * const decision: ApprovalDecision = { decision: "deny", who: "ann", channel: "library", reason: "Not on Fridays." };
 * const { approvalId } = await gateway.run({ command: "echo hi", ask: "always" }, { approvalTimeoutMs: 0 });
 * if (approvalId) console.log(gateway.approvals.decide(approvalId, decision).reason); // Not on Fridays.
 * ```
 */
export interface ApprovalDecision {
  /** `once` approves this request, `always` also makes a standing grant, `deny` refuses the request. */
  decision: "once" | "always" | "deny";
  /** The name of the person. */
  who: string;
  /** The surface on which the person decided. */
  channel: PersonChannel;
  /** The process or address that sent the decision over HTTP, such as `firefox (pid 4711)`, for the audit log. */
  peer?: string | undefined;
  /** A reason, which is returned to the agent. */
  reason?: string | undefined;
  /** With `always`: the arguments that the grant covers, and how long it is valid. */
  grant?: GrantScope | undefined;
}

/** The scope of a standing grant. */
export interface GrantScope {
  /**
   * `exact` (default), or one pattern per argument: `*` matches any text without `/`, `**` any text. A final `**` also
   * matches any further arguments.
   */
  args?: "exact" | string[] | undefined;
  /** Milliseconds from now until the grant expires. Default: it never expires. */
  expiresMs?: number | undefined;
}

/** A decision and its time (ISO 8601). */
export type RecordedDecision = ApprovalDecision & { at: string };

/** A command that a grant applies to. */
export interface GrantTarget {
  /** The resolved path of the program. */
  executable: string;
  /** The arguments. */
  args: string[];
  /** The working directory. */
  cwd: string;
  /** True when the command is part of a pipeline. A grant for the command alone does not apply inside a pipeline. */
  piped: boolean;
}

/** Whether a standing grant is possible: for which commands, or why not. */
export type Grantable = { ok: true; commands: GrantTarget[] } | { ok: false; why: string };

/**
 * A standing grant: a lasting approval of one program with certain arguments in one folder, for one agent. Made by the
 * decision `always`.
 *
 * @example
 * ```ts
 * const strict = await openGateway({
 *   policy: { security: "allowlist" },
 *   approve: async () => ({ decision: "always", who: "ann" }),
 * });
 * await strict.run({ command: "uname", args: ["-s"] });
 * for (const grant of strict.approvals.grants.list()) {
 *   console.log(grant.createdBy, grant.args); // ann { kind: 'exact', values: [ '-s' ] }
 *   strict.approvals.grants.revoke(grant.id, { who: "ann", channel: "library" });
 * }
 * await strict.close();
 * ```
 */
export interface Grant {
  /** The unique ID. */
  id: string;
  /** The agent that the grant applies to. */
  agent: string;
  /** The resolved path of the program. */
  executable: string;
  /** The exact arguments, or one pattern per argument. */
  args: { kind: "exact"; values: string[] } | { kind: "pattern"; patterns: string[] };
  /** The working directory in which the grant applies. */
  cwd: string;
  /** Whether the grant also applies inside a pipeline. */
  piped: boolean;
  /** The time of the decision (ISO 8601). */
  createdAt: string;
  /** The name of the person who made the grant. */
  createdBy: string;
  /** When the grant expires (ISO 8601). Null when it never expires. */
  expiresAt: string | null;
  /** The time of the last use (ISO 8601). Null when the grant was never used. */
  lastUsedAt: string | null;
  /** When the grant was revoked (ISO 8601). Null when it was not revoked. */
  revokedAt: string | null;
  /** The ID of the approval that created the grant. Null when the grant was created without a request. */
  approval: string | null;
  /** False when the program has changed since the grant was made. The command then requires approval again. */
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
