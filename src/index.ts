export { type ErrorType, type Recovery, SallyportError } from "./contract/error.ts";
export type {
  CleanReport,
  GatewayHandle,
  GatewayOptions,
  KillOptions,
  ListQuery,
  LogSlice,
  ProcessInfo,
  Retention,
  SessionHandle,
} from "./contract/gateway.ts";
export type { RunRequest } from "./contract/request.ts";
export type { ResourceUsage, RunResult, Status } from "./contract/result.ts";
export type { Capture, LogChunk, LogQuery, SessionInfo, StreamInfo, StreamName } from "./contract/session.ts";
export { openGateway } from "./gateway/open.ts";
