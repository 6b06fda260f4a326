import type { Outcome } from "../message.ts";
import { failureMessage } from "./failure.ts";
import { sentence } from "./sentence.ts";

const WORDS = {
  blocked: { title: "Blocked", otherwise: "No approval lifts this: report it instead of looking for a way round." },
  denied: { title: "Denied", otherwise: "Ask the operator to allow it, or reach the goal another way." },
} as const;

/** Why it was not run, and what to do instead; the reason never invites to try the same in other words. */
export function refusalMessage(outcome: Outcome, status: "blocked" | "denied"): string {
  // What a person said about it, or the gateway, tells more than the rule.
  if (outcome.error) return failureMessage(outcome.error);
  const { title, otherwise } = WORDS[status];
  const reason = "verdict" in outcome ? outcome.verdict?.reasons[0] : undefined;
  const start = reason === undefined ? `${title}.` : `${title}: ${sentence(reason.message)}`;
  return `${start} ${reason?.suggestion ? `Instead: ${sentence(reason.suggestion)}` : otherwise}`;
}

export function pendingMessage(outcome: Outcome): string {
  if (outcome.error) return failureMessage(outcome.error);
  const id = "approvalId" in outcome && outcome.approvalId !== null ? ` ${outcome.approvalId}` : "";
  return `Waiting for approval${id}; nothing has run yet. A person decides: wait for it, do not submit it again.`;
}
