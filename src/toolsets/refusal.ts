import type { RunResult } from "../core/result.ts";
import type { SessionInfo } from "../core/session.ts";
import type { Answer } from "./define.ts";

const NEVER_RAN: ReadonlySet<string> = new Set(["blocked", "denied", "pending", "failed"]);

export function neverRan({ status }: Pick<SessionInfo, "status">): boolean {
  return NEVER_RAN.has(status);
}

/** The answer where nothing was run; null: it was. `known` is what the contract promises even then. */
export function refusal(outcome: RunResult | SessionInfo, known: Record<string, unknown> = {}): Answer | null {
  if (!neverRan(outcome)) return null;
  const failure = outcome.error ?? { type: "SpawnFailed", message: "It was not started.", recovery: [] };
  const approval = "approvalId" in outcome && outcome.approvalId !== null ? { approval_id: outcome.approvalId } : {};
  return { structured: { ...known, ...approval }, failure };
}
