/** What the tools that run commands share: deadlines, options of the gateway's calls, and refusals. */

import type { RunOptions, StartOptions } from "../core/gateway.ts";
import type { RunResult } from "../core/result.ts";
import type { SessionInfo } from "../core/session.ts";
import type { Gateway } from "../gateway/gateway.ts";
import type { HandlerResult } from "./define.ts";
import type { CallContext } from "./tool.ts";

export function runOptions({ signal, answerWithinMs, onProgress }: CallContext): RunOptions {
  return {
    ...(signal ? { signal } : {}),
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
 * The deadline of a foreground command in ms: the requested one, else the configured default, else the contract's. The
 * defaults are limited to the maximum; a requested deadline beyond it is refused by the gateway.
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

/** The same, but a requested deadline is limited to the maximum, too, instead of being refused. */
export function clampedDeadlineMs(
  gateway: Gateway,
  requested: number | undefined,
  contract: { defaultSeconds: number; maxSeconds: number },
): number {
  const maxSeconds = Math.min(contract.maxSeconds, gateway.timeouts.maxSeconds ?? Number.POSITIVE_INFINITY);
  return Math.min(deadlineMs(gateway, requested, contract), maxSeconds * 1000);
}

const UNSTARTED: ReadonlySet<string> = new Set(["blocked", "denied", "pending", "failed"]);

export function isUnstarted({ status }: Pick<SessionInfo, "status">): boolean {
  return UNSTARTED.has(status);
}

/** The result when nothing was run; null when it was. `fields`: what the contract promises even then. */
export function refusal(outcome: RunResult | SessionInfo, fields: Record<string, unknown>): HandlerResult | null {
  if (!isUnstarted(outcome)) return null;
  const failure = outcome.error ?? { type: "SpawnFailed", message: "It was not started.", recovery: [] };
  const approval = "approvalId" in outcome && outcome.approvalId !== null ? { approval_id: outcome.approvalId } : {};
  return { structured: { ...fields, ...approval }, failure };
}
