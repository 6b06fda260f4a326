import type { Step } from "./step.ts";

/**
 * The type of an error, for programs. Messages may change between versions; types do not. See docs/errors.md for the
 * meaning of each type.
 *
 * @example
 * ```ts
 * import { type ErrorType, SallyportError } from "sallyport";
 *
 * const expected: ErrorType = "SessionNotFound";
 * try {
 *   gateway.session("no-such-session");
 * } catch (error) {
 *   console.log(error instanceof SallyportError && error.type === expected); // true
 * }
 * ```
 */
export type ErrorType =
  | "InvalidRequest"
  | "CommandBlocked"
  | "CommandDenied"
  | "ApprovalPending"
  | "CommandNotFound"
  | "PermissionDenied"
  | "SpawnFailed"
  | "PathOutOfScope"
  | "WorkdirNotFound"
  | "ArgumentsTooLong"
  | "ResourceLimitExceeded"
  | "SandboxUnavailable"
  | "MaskBroken"
  | "InputRequired"
  | "SessionNotFound"
  | "SessionLost"
  | "AmbiguousId"
  | "NameInUse"
  | "AlreadyExited"
  | "StillRunning"
  | "StdinClosed"
  | "NotOnTerminal"
  | "KillFailed"
  | "KeeperUnavailable"
  | "StateUnusable"
  | "GatewayClosed"
  | "WorkNotFound"
  | "LeaseLost"
  | "ApprovalNotFound"
  | "AlreadyDecided"
  | "NotAnApprover"
  | "SelfApproval"
  | "NotGrantable"
  | "GrantNotFound"
  | "TokenNotFound"
  | "TrustNotFound"
  | "StatementRefused"
  | "FleetUnreachable"
  | "FleetVersion"
  | "HostSilent"
  | "NoWorker"
  | "NodeNotFound"
  | "OtherGateway"
  | "InvalidConfiguration";

/**
 * A way to recover from an error.
 *
 * @example
 * ```ts
 * const { error } = await gateway.run({ command: "no-such-program", args: [] });
 * for (const { action, hint } of error?.recovery ?? []) console.log(action, hint);
 * ```
 */
export interface Recovery {
  /** A stable name for programs, such as `fix_request` or `list_sessions`. */
  action: string;
  /** A sentence for people and models, in the terms of the library. */
  hint: string;
  /** The step as data, if the sentence depends on the surface. Each surface words it for its reader. */
  step?: Step | undefined;
}

/** The message and recovery of an error whose type the caller chooses. */
export type ErrorText = [message: string, recovery: Recovery[]];

/**
 * The error that methods of the library throw or reject with. Only an aborted `signal` rejects with another value, its
 * own reason.
 *
 * @example
 * ```ts
 * import { SallyportError } from "sallyport";
 *
 * try {
 *   await gateway.session("dev-server").kill();
 * } catch (error) {
 *   if (!(error instanceof SallyportError)) throw error;
 *   console.log(error.type, error.message); // SessionNotFound No such session: "dev-server".
 * }
 * ```
 */
export class SallyportError extends Error {
  /** What failed, for programs. */
  readonly type: ErrorType;
  /** Ways to recover, the most likely one first. */
  readonly recovery: readonly Recovery[];
  /** Further values for programs, which depend on the type. Not part of `toJSON`. */
  readonly details: Readonly<Record<string, unknown>>;

  /** Creates an error. Errors are created by the library, not by its callers. */
  constructor(type: ErrorType, message: string, recovery: readonly Recovery[], details: Record<string, unknown> = {}) {
    super(message);
    this.name = "SallyportError";
    this.type = type;
    this.recovery = recovery;
    this.details = details;
  }

  /** Returns the error as it appears in JSON responses. */
  toJSON() {
    return { type: this.type, message: this.message, recovery: this.recovery };
  }
}
