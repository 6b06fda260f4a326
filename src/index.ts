import "./node-version.ts";

export type { ConfigFile } from "./config/schema.ts";
export type {
  Approval,
  ApprovalDecision,
  ApprovalRequest,
  ApprovalStatus,
  Grant,
  Quorum,
} from "./core/approval.ts";
export type { AuditEntry, AuditFilter } from "./core/audit.ts";
export { type ErrorType, type Recovery, SallyportError } from "./core/error.ts";
export type { CommandFact, Span, Unknown, Word } from "./core/facts.ts";
export type {
  Acting,
  AgentInfo,
  ApprovalCallback,
  Change,
  ChangeList,
  CheckOptions,
  CleanReport,
  FollowQuery,
  GatewayEvent,
  KillOptions,
  ListQuery,
  LogSlice,
  ModeVerdict,
  PolicyInForce,
  Position,
  ProcessInfo,
  Retention,
  RunOptions,
  Scope,
  SessionHandle,
  StartOptions,
  Tier,
} from "./core/gateway.ts";
export type { Ask, Decision, Reason, Security, Verdict } from "./core/policy.ts";
export type { RunRequest } from "./core/request.ts";
export type { ResourceUsage, RunResult, Status } from "./core/result.ts";
export type { SandboxEnforcement, SandboxLevel, UnsupportedFeature } from "./core/sandbox-level.ts";
export type {
  Capture,
  LogChunk,
  LogQuery,
  SessionInfo,
  SessionLimits,
  StreamInfo,
  StreamName,
  WaitConditions,
  WaitOutcome,
} from "./core/session.ts";
export type { Repaint, Screen, ScreenRun, TerminalSize } from "./core/terminal.ts";
export type { Gateway } from "./gateway/gateway.ts";
export { openGateway } from "./gateway/open.ts";
export type { GatewayOptions } from "./gateway/options.ts";
export type { ClaimedItem, NewWorkItem, WorkItem } from "./storage/work.ts";
export type { CallContext, Tool, ToolAnnotations, ToolAnswer, ToolFailure, ToolsetName } from "./toolsets/tool.ts";
export { tools } from "./toolsets/tools.ts";
