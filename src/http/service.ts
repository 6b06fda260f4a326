import type { Gateway } from "../gateway/gateway.ts";
import type { SignIns } from "../storage/sign-ins.ts";
import type { Tokens } from "../storage/tokens.ts";
import type { ConnectionLimiter, RateLimiter } from "./guard/limiters.ts";
import type { RequestCounts } from "./live/prometheus.ts";
import type { Tracing } from "./tracing/tracer.ts";

/** What everything behind the listener stands on. */
export interface Service {
  /** As the service itself; an operation uses its caller's view of it (`call.gateway`). */
  gateway: Gateway;
  tokens: Tokens;
  signIns: SignIns;
  /** Of failed sign-ins. */
  signInLimiter: RateLimiter;
  /** Of large request bodies, many of which would fill the memory. */
  largeBodies: ConnectionLimiter;
  requests: RequestCounts;
  /** Null: nobody wants traces. */
  tracing: Tracing | null;
  /** Names the service may be called by, without ports. */
  names: readonly string[];
  /** It speaks TLS, so that cookies are for TLS only. */
  secure: boolean;
  version: string;
  workspace: string;
  /** Aborts when the service begins to stop: open streams end then, so that clients come back to the next one. */
  stopping: AbortSignal;
  /** What went wrong here, for the operator. */
  onfailure(error: Error): void;
}
