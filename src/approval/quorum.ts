/** When enough people have spoken. */
import type { ApprovalDecision, Quorum } from "../core/approval.ts";

type Outcome = "pending" | "approved" | "denied";

/** `decisions` holds at most one of each person. */
export function outcomeOf(quorum: Quorum, decisions: readonly Pick<ApprovalDecision, "decision">[]): Outcome {
  const no = decisions.filter(({ decision }) => decision === "deny").length;
  const yes = decisions.length - no;
  const all = quorum.approvers.length;
  switch (quorum.rule) {
    case "any":
      return decisions.length === 0 ? "pending" : no > 0 ? "denied" : "approved";
    case "unanimous":
      return no > 0 ? "denied" : yes >= all ? "approved" : "pending";
    case "majority": {
      const needed = Math.floor(all / 2) + 1;
      if (yes >= needed) return "approved";
      return all - no < needed ? "denied" : "pending";
    }
  }
}

/** Null: a sound quorum; else what is wrong with it. */
export function quorumFault({ rule, approvers }: Quorum): string | null {
  if (!["any", "majority", "unanimous"].includes(rule)) return "`quorum.rule` must be any, majority or unanimous";
  if (new Set(approvers).size !== approvers.length) return "`quorum.approvers` names somebody twice";
  if (rule !== "any" && approvers.length === 0)
    return `\`quorum.approvers\` must name who decides when the rule is ${rule}`;
  return null;
}
