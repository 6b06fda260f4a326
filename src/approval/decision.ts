/** Checks of a decision, and the rules of a quorum. */
import {
  type Approval,
  type ApprovalDecision,
  type ApprovalRequest,
  PERSON_CHANNELS,
  type Quorum,
} from "../core/approval.ts";
import { SallyportError } from "../core/error.ts";
import { shownLine } from "../text/visible.ts";
import { alreadyDecided, alreadyVoted, notAnApprover, notGrantable, selfApproval } from "./errors.ts";

type QuorumStatus = "pending" | "approved" | "denied";

/** `decisions` holds at most one of each person. */
export function quorumStatus(quorum: Quorum, decisions: readonly Pick<ApprovalDecision, "decision">[]): QuorumStatus {
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
function quorumProblem({ rule, approvers }: Quorum): string | null {
  if (!["any", "majority", "unanimous"].includes(rule)) return "`quorum.rule` must be any, majority or unanimous";
  if (new Set(approvers).size !== approvers.length) return "`quorum.approvers` names somebody twice";
  if (rule !== "any" && approvers.length === 0)
    return `\`quorum.approvers\` must name who decides when the rule is ${rule}`;
  return null;
}

const LONGEST_REASON = 4096;
const LONGEST_NAME = 256;
const LONGEST_PATTERN = 1000;
const MOST_PATTERNS = 1000;

function invalid(fault: string): SallyportError {
  return new SallyportError("InvalidRequest", `${fault}.`, [{ action: "fix_request", hint: "See docs/approvals.md." }]);
}

export function assertQuorum(quorum: Quorum): void {
  const fault = quorumProblem(quorum);
  if (fault !== null) throw invalid(fault);
}

/** The shape, and that it comes from where persons decide. A word that is none of the three is no yes. */
export function assertDecision({ decision, who, channel, reason, grant }: ApprovalDecision): void {
  if (!["once", "always", "deny"].includes(decision)) throw invalid("`decision` must be once, always or deny");
  if (typeof who !== "string" || who.length > LONGEST_NAME) throw invalid("`who` must be a name");
  if (reason !== undefined && (typeof reason !== "string" || reason.length > LONGEST_REASON)) {
    throw invalid(`\`reason\` must be a text of at most ${LONGEST_REASON} characters`);
  }
  const { args = "exact", expiresMs = 1 } = grant ?? {};
  const sound = (pattern: unknown) => typeof pattern === "string" && pattern.length <= LONGEST_PATTERN;
  if (args !== "exact" && !(Array.isArray(args) && args.length <= MOST_PATTERNS && args.every(sound))) {
    throw invalid("`grant.args` must be exact, or one pattern per argument");
  }
  if (!(Number.isSafeInteger(expiresMs) && expiresMs > 0)) throw invalid("`grant.expiresMs` must be in the future");
  if (!PERSON_CHANNELS.includes(channel))
    throw selfApproval(`${shownLine(String(channel))} is not where persons decide`);
  if (who === "" || who.startsWith("agent:")) throw selfApproval("an agent is not one");
}

/** That it is this person's to decide, still, and for the first time. */
export function assertMayDecide(approval: Approval, { decision, who, channel, grant }: ApprovalDecision): void {
  const { quorum, agent, decisions, request } = approval;
  if (approval.status !== "pending") throw alreadyDecided(approval);
  // At a terminal it is the system that says who it is, and a person may be called like an agent.
  if (who === agent && channel !== "cli" && channel !== "terminal") {
    throw selfApproval(`${shownLine(who)} is the agent that asked`);
  }
  if (quorum.approvers.length > 0 && !quorum.approvers.includes(who))
    throw notAnApprover(shownLine(who), quorum.approvers);
  const earlier = decisions.find((each) => each.who === who);
  if (earlier) throw alreadyVoted(earlier);
  if (decision === "always") assertGrantable(request, grant);
}

function assertGrantable({ always }: ApprovalRequest, grant: ApprovalDecision["grant"]): void {
  if (!always.ok) throw notGrantable(always.why);
  const patterns = grant?.args !== undefined && grant.args !== "exact";
  if (patterns && always.commands.length > 1) throw notGrantable("patterns are for one command, this runs several");
}
