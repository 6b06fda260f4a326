import type { Gateway } from "../gateway/gateway.ts";
import type { SignIns } from "../storage/sign-ins.ts";
import type { Tokens } from "../storage/tokens.ts";
import type { ConnectionLimiter, RateLimiter } from "./guard/limiters.ts";
import type { Tickets } from "./guard/tickets.ts";
import type { RequestCounts } from "./live/prometheus.ts";
import type { Tracing } from "./tracing/tracer.ts";

/** The state shared by all operations of the service. */
export interface Service {
  /** The unrestricted gateway. Operations use `call.gateway`, which is restricted to their caller. */
  gateway: Gateway;
  tokens: Tokens;
  signIns: SignIns;
  /** One-time secrets for event streams and downloads of the console. */
  tickets: Tickets;
  /** Limits failed sign-ins. */
  signInLimiter: RateLimiter;
  /** Limits concurrent large request bodies, which are held in memory. */
  largeBodies: ConnectionLimiter;
  requests: RequestCounts;
  /** The number of the last audit entry before the service started, from which metrics count. */
  lastAuditEntry: number;
  /** Null when traces are not exported. */
  tracing: Tracing | null;
  /** Accepted host names, without ports. */
  names: readonly string[];
  version: string;
  workspace: string;
  /** Aborts when the service begins to stop. This ends all streams, so that clients reconnect to the next instance. */
  stopping: AbortSignal;
  /** Reports an internal error to the operator. */
  onfailure(error: Error): void;
}
