export type { ConfigFile } from "./config/schema.ts";
export type {
  Approval,
  ApprovalDecision,
  ApprovalRequest,
  ApprovalStatus,
  Grant,
  Quorum,
} from "./contract/approval.ts";
export type { Change, ChangeList, Position } from "./contract/changes.ts";
export { type ErrorType, type Recovery, SallyportError } from "./contract/error.ts";
export type { CommandFact, Span, Unknown, Word } from "./contract/facts.ts";
export type {
  Acting,
  AgentInfo,
  ApprovalCallback,
  CheckOptions,
  CleanReport,
  FollowQuery,
  GatewayEvent,
  KillOptions,
  ListQuery,
  LogSlice,
  ModeVerdict,
  PolicyInForce,
  ProcessInfo,
  Retention,
  RunOptions,
  Scope,
  SessionHandle,
  StartOptions,
  Tier,
} from "./contract/gateway.ts";
export type { RunRequest } from "./contract/request.ts";
export type { ResourceUsage, RunResult, Status } from "./contract/result.ts";
export type {
  Capture,
  LogChunk,
  LogQuery,
  SessionInfo,
  SessionLimits,
  StreamInfo,
  StreamName,
} from "./contract/session.ts";
export type { Repaint, Screen, ScreenRun, TerminalSize, WaitConditions, WaitOutcome } from "./contract/terminal.ts";
export type { Ask, Decision, Reason, Security, Verdict } from "./contract/verdict.ts";
export type { Gateway } from "./gateway/gateway.ts";
export { openGateway } from "./gateway/open.ts";
export type { GatewayOptions } from "./gateway/options.ts";
export type { AuditEntry, AuditFilter } from "./store/audit-entry.ts";
export type { ClaimedItem, NewWorkItem, WorkItem } from "./store/work-item.ts";
export type { CallContext, Tool, ToolAnnotations, ToolAnswer, ToolFailure, ToolsetName } from "./toolsets/tool.ts";
export { tools } from "./toolsets/tools.ts";
