import type { Command } from "../../command.ts";
import { textOption } from "../../options.ts";
import { localUser } from "../../person.ts";
import { forEachApproval } from "./approval-arguments.ts";
import { commandOf } from "./columns.ts";

export const deny: Command = {
  name: "deny",
  summary: "Refuse a waiting command, with a reason for the agent",
  usage: "sallyport deny [OPTIONS] ID…",
  options: { reason: { type: "string" } },
  help: { reason: "TEXT: tell the agent why", json: "print the approvals as JSON" },
  examples: ["sallyport deny 019a8b2c", "sallyport deny 019a8b2c --reason 'use the staging database'"],
  run: (invocation) => {
    const reason = textOption(invocation.values, "reason");
    return forEachApproval(invocation, (approvals, id) => {
      const approval = approvals.decide(id, { decision: "deny", ...localUser(), ...(reason ? { reason } : {}) });
      invocation.io.err(`${approval.status === "denied" ? "Denied" : "Your word counts"}: ${commandOf(approval)}\n`);
      return approval;
    });
  },
};
