/** Code shared by the tools that run commands: deadlines, options of gateway calls, and results of refused commands. */

import { SallyportError } from "../core/error.ts";
import type { LogSlice, RunOptions, StartOptions } from "../core/gateway.ts";
import type { RunResult } from "../core/result.ts";
import type { SessionInfo } from "../core/session.ts";
import type { Gateway } from "../gateway/gateway.ts";
import type { HandlerResult } from "./define.ts";
import type { CallContext } from "./tool.ts";

/**
 * Returns the options for a foreground command. The call does not wait longer for an approval than for the command: a
 * caller that sets a short timeout expects an answer within about that time.
 */
export function runOptions({ signal, answerWithinMs, onProgress }: CallContext, timeoutMs: number): RunOptions {
  return {
    ...(signal ? { signal } : {}),
    ...(timeoutMs > 0 ? { approvalTimeoutMs: timeoutMs } : {}),
    ...(answerWithinMs === undefined ? {} : { answerWithinMs }),
    ...(onProgress ? { onProgress } : {}),
  };
}

export function startOptions({ signal, answerWithinMs }: CallContext): StartOptions {
  return {
    ...(signal ? { signal } : {}),
    ...(answerWithinMs === undefined ? {} : { approvalTimeoutMs: answerWithinMs }),
  };
}

/**
 * Returns the deadline of a foreground command in ms: the requested one, else the configured default, else the
 * contract's default. Defaults are limited to the maximum; the gateway rejects a requested deadline beyond it.
 */
export function deadlineMs(
  gateway: Gateway,
  requested: number | undefined,
  contract: { defaultSeconds: number; maxSeconds?: number },
): number {
  if (requested !== undefined) return Math.ceil(requested * 1000);
  const { defaultSeconds, maxSeconds } = gateway.timeouts;
  const max = Math.min(contract.maxSeconds ?? Number.POSITIVE_INFINITY, maxSeconds ?? Number.POSITIVE_INFINITY);
  return Math.min(defaultSeconds ?? contract.defaultSeconds, max) * 1000;
}

/** Like `deadlineMs`, but limits a requested deadline to the maximum instead of leaving it to be rejected. */
export function clampedDeadlineMs(
  gateway: Gateway,
  requested: number | undefined,
  contract: { defaultSeconds: number; maxSeconds: number },
): number {
  const maxSeconds = Math.min(contract.maxSeconds, gateway.timeouts.maxSeconds ?? Number.POSITIVE_INFINITY);
  return Math.min(deadlineMs(gateway, requested, contract), maxSeconds * 1000);
}

/**
 * Returns output that accompanies the result of another operation, or nothing where reading is disabled: that must not
 * make the operation itself look refused.
 */
export async function readable(read: () => Promise<LogSlice>): Promise<string> {
  try {
    return (await read()).text;
  } catch (error) {
    if (error instanceof SallyportError && error.type === "CommandDenied") return "";
    throw error;
  }
}

const UNSTARTED: ReadonlySet<string> = new Set(["blocked", "denied", "pending", "failed"]);

export function isUnstarted({ status }: Pick<SessionInfo, "status">): boolean {
  return UNSTARTED.has(status);
}

/**
 * Returns the result for a command that did not start, or null when it did. `fields` are the fields that the contract
 * requires in any case.
 */
export function refusal(outcome: RunResult | SessionInfo, fields: Record<string, unknown>): HandlerResult | null {
  if (!isUnstarted(outcome)) return null;
  const failure = outcome.error ?? { type: "SpawnFailed", message: "The command was not started.", recovery: [] };
  return { structured: fields, failure };
}
