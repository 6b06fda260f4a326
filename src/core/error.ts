/** Every way Sallyport itself can fail, as callers see it (promise 8: errors teach). */
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

/** One way out of a failure: a stable action name for programs and a hint for people and models. */
export interface Recovery {
  action: string;
  hint: string;
}

/** The message and recovery of an error whose type the caller chooses. */
export type ErrorText = [message: string, recovery: Recovery[]];

/** The one error Sallyport throws. Surfaces render it; nothing else is thrown on purpose. */
export class SallyportError extends Error {
  readonly type: ErrorType;
  readonly recovery: readonly Recovery[];
  readonly details: Readonly<Record<string, unknown>>;

  constructor(type: ErrorType, message: string, recovery: readonly Recovery[], details: Record<string, unknown> = {}) {
    super(message);
    this.name = "SallyportError";
    this.type = type;
    this.recovery = recovery;
    this.details = details;
  }

  toJSON() {
    return { type: this.type, message: this.message, recovery: this.recovery };
  }
}
