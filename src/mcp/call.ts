import { AsyncLocalStorage } from "node:async_hooks";
import type { Approval, ApprovalDecision } from "../core/approval.ts";

/** What a person said, before it is known through which channel they did. */
export type HostDecision = Pick<ApprovalDecision, "decision" | "who" | "reason">;

/** One tool call on its way through the gateway, as far as the protocol has a part in it. */
export interface Call {
  /** Asks the host's user. Null: they cannot be asked, or leave it to somebody else. */
  ask(approval: Approval, signal: AbortSignal): Promise<HostDecision | null>;
  /** Sessions it started, by id. */
  readonly started: string[];
}

/**
 * Which call is being served. The gateway knows nothing of connections; what it asks and tells while it serves a call is
 * brought back to the right one by this, however many run at once.
 */
const serving = new AsyncLocalStorage<Call>();

export function inCall<T>(call: Call, work: () => Promise<T>): Promise<T> {
  return serving.run(call, work);
}

export function currentCall(): Call | null {
  return serving.getStore() ?? null;
}
