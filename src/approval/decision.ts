/** Validation of decisions, and the rules of a quorum. */

import {
  type Approval,
  type ApprovalDecision,
  type ApprovalRequest,
  PERSON_CHANNELS,
  type Quorum,
} from "../core/approval.ts";
import { SallyportError } from "../core/error.ts";
import { isPersonName, isSameName } from "../core/names.ts";
import { operatorStep } from "../core/next-step.ts";
import { shownLine } from "../text/visible.ts";
import { alreadyDecided, alreadyVoted, notAnApprover, notGrantable, selfApproval } from "./errors.ts";

type QuorumStatus = "pending" | "approved" | "denied";

/** Returns the status of a request after `decisions`, which holds at most one decision per person. */
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

/** Returns what is wrong with a quorum, or null when it is valid. */
function quorumProblem({ rule, approvers }: Quorum): string | null {
  if (!["any", "majority", "unanimous"].includes(rule)) return "`quorum.rule` must be any, majority or unanimous";
  if (new Set(approvers.map((name) => name.toLowerCase())).size !== approvers.length)
    return "`quorum.approvers` contains duplicate names";
  if (rule !== "any" && approvers.length === 0)
    return `\`quorum.approvers\` must not be empty when \`quorum.rule\` is ${rule}`;
  return null;
}

const MAX_REASON_LENGTH = 4096;
const MAX_NAME_LENGTH = 256;
const MAX_PATTERN_LENGTH = 1000;
const MAX_PATTERNS = 1000;

function invalid(fault: string): SallyportError {
  return new SallyportError("InvalidRequest", `${fault}.`, [
    operatorStep("fix_request", "Correct the value. Decisions and quorums are described in docs/approvals.md."),
  ]);
}

export function assertQuorum(quorum: Quorum): void {
  const fault = quorumProblem(quorum);
  if (fault !== null) throw invalid(fault);
}

/** Throws unless a decision is well-formed, was made by a person and came through a channel that people use. */
export function assertDecision({ decision, who, channel, reason, grant }: ApprovalDecision): void {
  if (!["once", "always", "deny"].includes(decision)) throw invalid("`decision` must be once, always or deny");
  if (typeof who !== "string" || who.length > MAX_NAME_LENGTH) {
    throw invalid(`\`who\` must be a name of at most ${MAX_NAME_LENGTH} characters`);
  }
  if (reason !== undefined && (typeof reason !== "string" || reason.length > MAX_REASON_LENGTH)) {
    throw invalid(`\`reason\` must be a string of at most ${MAX_REASON_LENGTH} characters`);
  }
  const { args = "exact", expiresMs = 1 } = grant ?? {};
  const sound = (pattern: unknown) => typeof pattern === "string" && pattern.length <= MAX_PATTERN_LENGTH;
  if (args !== "exact" && !(Array.isArray(args) && args.length <= MAX_PATTERNS && args.every(sound))) {
    throw invalid("`grant.args` must be `exact` or an array with one pattern per argument");
  }
  if (!(Number.isSafeInteger(expiresMs) && expiresMs > 0)) {
    throw invalid("`grant.expiresMs` must be a positive integer");
  }
  if (!PERSON_CHANNELS.includes(channel)) {
    throw selfApproval(`people cannot decide through the channel ${shownLine(String(channel))}`);
  }
  if (who === "" || /^agent:/i.test(who)) throw selfApproval("the decision was made by an agent");
  // A name that looks like another person's could vote twice or hide who decided.
  if (!isPersonName(who)) {
    throw invalid(
      "`who` must consist of ASCII letters, digits, spaces and `._:@/\\+-`, with a letter or digit at both ends",
    );
  }
}

/** Throws unless the request is pending and this person may decide it and has not decided it before. */
export function assertMayDecide(approval: Approval, { decision, who, channel, grant }: ApprovalDecision): void {
  const { quorum, agent, decisions, request } = approval;
  if (approval.status !== "pending") throw alreadyDecided(approval);
  // At a terminal the operating system supplies the name, and a user may have the same name as an agent.
  if (isSameName(who, agent) && channel !== "cli" && channel !== "terminal") {
    throw selfApproval(`${shownLine(who)} is the agent that made the request`);
  }
  if (quorum.approvers.length > 0 && !quorum.approvers.some((name) => isSameName(name, who)))
    throw notAnApprover(shownLine(who), quorum.approvers);
  const earlier = decisions.find((each) => isSameName(each.who, who));
  if (earlier) throw alreadyVoted(earlier);
  if (decision === "always") assertGrantable(request, grant);
}

function assertGrantable({ always }: ApprovalRequest, grant: ApprovalDecision["grant"]): void {
  if (!always.ok) throw notGrantable(always.why);
  const patterns = grant?.args !== undefined && grant.args !== "exact";
  if (patterns && always.commands.length > 1)
    throw notGrantable("patterns apply to a single command, and this one runs several");
}
