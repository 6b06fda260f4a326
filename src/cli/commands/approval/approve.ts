import type { Approval } from "../../../core/approval.ts";
import type { Command } from "../../command.ts";
import { localUser } from "../../person.ts";
import { forEachApproval, grantScope } from "./approval-arguments.ts";
import { commandOf, grantText } from "./columns.ts";

export const approve: Command = {
  name: "approve",
  summary: "Let a waiting command run, once or for good",
  usage: "sallyport approve [OPTIONS] ID…",
  options: { always: { type: "boolean" }, args: { type: "string" }, expires: { type: "string" } },
  help: {
    always: "also from now on, without asking: same agent, program, arguments and folder",
    args: "PATTERNS: with --always, one pattern per argument instead of these exact arguments",
    expires: "DUR: with --always, only for this long",
    json: "print the approvals as JSON",
  },
  examples: [
    "sallyport approve 019a8b2c",
    "sallyport approve 019a8b2c --always --expires 8h",
    "sallyport approve 019a8b2c --always --args 'fetch origin *'",
  ],
  notes: `In a pattern \`*\` stands for any text without \`/\`, \`?\` for one character, \`**\` for any text and, as the last
one, for any further arguments. No wildcard matches an option or a path with \`..\`.
\`sallyport approvals ID\` shows the whole request. \`sallyport allow\` lists what was allowed for good.`,
  run: (invocation) => {
    const grant = grantScope(invocation.values);
    return forEachApproval(invocation, (approvals, id) => {
      const decision = grant ? { decision: "always" as const, grant } : { decision: "once" as const };
      const approval = approvals.decide(id, { ...decision, ...localUser() });
      const made = approvals.grants.list().filter((each) => each.approval === approval.id);
      invocation.io.err(
        `${outcomeText(approval)}\n${made.map((each) => `From now on: ${grantText(each)}\n`).join("")}`,
      );
      return approval;
    });
  },
};

function outcomeText(approval: Approval): string {
  const { status, decisions, quorum } = approval;
  if (status === "approved") return `Approved: ${commandOf(approval)}`;
  const spoken = `${decisions.length} of ${quorum.approvers.length}`;
  return `Your word counts; ${spoken} have decided (${quorum.rule}): ${commandOf(approval)}`;
}
