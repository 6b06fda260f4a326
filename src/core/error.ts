/**
 * The type of an error, for programs. Messages may change between versions; types do not.
 *
 * | type | meaning |
 * | --- | --- |
 * | `InvalidRequest` | an argument, option or field is unknown or has an invalid value |
 * | `InvalidConfiguration` | a configuration file or the `policy` option is invalid |
 * | `CommandBlocked`, `CommandDenied` | policy or a person refused the command or operation |
 * | `ApprovalPending` | approval is required and was not given in time |
 * | `CommandNotFound`, `PermissionDenied`, `ArgumentsTooLong`, `SpawnFailed` | the program could not be started |
 * | `WorkdirNotFound` | the working directory does not exist or is not a folder |
 * | `PathOutOfScope` | a path is outside the folders that requests may name |
 * | `ResourceLimitExceeded` | the agent has reached its limit of sessions or starts |
 * | `SandboxUnavailable` | the configuration requires a sandbox that this machine cannot enforce |
 * | `SessionNotFound`, `AmbiguousId` | a reference matches no session, or several objects |
 * | `SessionLost` | the keeper of the command was killed; the exit code is unknown |
 * | `NameInUse` | the name of a session or token exists already |
 * | `AlreadyExited`, `StillRunning` | the operation needs a running, or an ended, session |
 * | `StdinClosed`, `NotOnTerminal` | the session has no open stdin, or no terminal |
 * | `KillFailed` | the `process` toolset could not reach the command to end it |
 * | `KeeperUnavailable` | the keeper of a session did not respond |
 * | `StateUnusable`, `GatewayClosed` | the state folder cannot be used, or the gateway is closed |
 * | `WorkNotFound`, `LeaseLost` | the work item does not exist, or the lease is no longer valid |
 * | `ApprovalNotFound`, `AlreadyDecided` | the approval request does not exist, or is no longer pending |
 * | `NotAnApprover`, `SelfApproval` | the person is not an approver, or an agent's command tried to decide |
 * | `NotGrantable`, `GrantNotFound` | a standing grant is not possible, or does not exist |
 * | `TokenNotFound`, `TrustNotFound` | the token or the trusted key does not exist |
 * | `FleetUnreachable`, `FleetVersion` | the fleet cannot be reached, or has an incompatible version |
 * | `NoWorker`, `NodeNotFound`, `HostSilent` | no suitable worker, no such host, or the host did not respond |
 * | `StatementRefused` | a worker rejected the attestation of a job |
 * | `OtherGateway` | only the gateway that started the session can do this |
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
  /** A sentence for people and models. */
  hint: string;
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
