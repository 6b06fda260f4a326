import type { Approval } from "../../../core/approval.ts";
import type { Command } from "../../command.ts";
import { localUser } from "../../person.ts";
import { forEachApproval, grantScope } from "./approval-arguments.ts";
import { commandOf, grantText } from "./columns.ts";

export const approve: Command = {
  name: "approve",
  summary: "Approve a command once, or create a standing grant for it",
  usage: "sallyport approve [OPTIONS] ID...",
  description: `
    Approves pending requests. The beginning of an ID is enough if it is unique. With --always, also creates a standing
    grant: from then on, the same agent can run the same program with the same arguments in the same directory without
    approval.`,
  options: { always: { type: "boolean" }, expires: { type: "string" }, args: { type: "string" } },
  help: {
    always: "Also create a standing grant",
    expires: "DUR: With --always, let the grant expire after this time (default: no expiry)",
    args: "PATTERNS: With --always, allow arguments that match these patterns, one per argument (default: exactly the requested arguments)",
    json: "Print the requests as JSON",
  },
  sections: {
    Patterns: `In a pattern, * matches any text without /, ? matches one character, and ** matches any text. A final ** matches
      any further arguments. Wildcards match neither options nor paths that contain "..".`,
  },
  examples: [
    ["Approve a command once", "sallyport approve 019a8b2c"],
    ["Approve a command for the next eight hours", "sallyport approve 019a8b2c --always --expires 8h"],
    ["Approve fetching any branch", "sallyport approve 019a8b2c --always --args 'fetch origin *'"],
  ],
  run: (invocation) => {
    const grant = grantScope(invocation.values);
    return forEachApproval(invocation, (approvals, id) => {
      const decision = grant ? { decision: "always" as const, grant } : { decision: "once" as const };
      const approval = approvals.decide(id, { ...decision, ...localUser() });
      const made = approvals.grants.list().filter((each) => each.approval === approval.id);
      invocation.io.err(
        `${outcomeText(approval)}\n${made.map((each) => `Created grant: ${grantText(each)}\n`).join("")}`,
      );
      return approval;
    });
  },
};

function outcomeText(approval: Approval): string {
  const { status, decisions, quorum } = approval;
  if (status === "approved") return `Approved: ${commandOf(approval)}`;
  const decided = `${decisions.length} of ${quorum.approvers.length} approvers have decided`;
  return `Decision recorded; ${decided} (rule: ${quorum.rule}): ${commandOf(approval)}`;
}
