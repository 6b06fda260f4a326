import type { Outcome } from "../message.ts";
import { sentence } from "./sentence.ts";

const WORDS = {
  blocked: { title: "Blocked", else: "No approval lifts this: report it instead of looking for a way round." },
  denied: { title: "Denied", else: "Ask the operator to allow it, or reach the goal another way." },
} as const;

/** Why it was not run, and what to do instead; the reason never invites to try the same in other words. */
export function refusalMessage(outcome: Outcome, status: "blocked" | "denied"): string {
  const { title, else: otherwise } = WORDS[status];
  const reason = "verdict" in outcome ? outcome.verdict?.reasons[0] : undefined;
  // A person's own words about a denial, where there are any, say more than the rule that asked for them.
  const why = outcome.error?.message ?? reason?.message;
  const instead = reason?.suggestion ?? outcome.error?.recovery[0]?.hint;
  const start = why === undefined ? `${title}.` : `${title}: ${sentence(why)}`;
  return `${start} ${instead ? `Instead: ${sentence(instead)}` : otherwise}`;
}

export function pendingMessage(outcome: Outcome): string {
  const id = "approvalId" in outcome && outcome.approvalId !== null ? ` ${outcome.approvalId}` : "";
  return `Waiting for approval${id}; nothing has run yet. A person decides: wait for it, do not submit it again.`;
}
