import type { Command } from "../../command.ts";
import { textOption } from "../../options.ts";
import { localUser } from "../../person.ts";
import { forEachApproval } from "./approval-arguments.ts";
import { commandOf } from "./columns.ts";

export const deny: Command = {
  name: "deny",
  summary: "Deny a command",
  usage: "sallyport deny [OPTIONS] ID...",
  description: "Denies pending requests. The beginning of an ID is enough if it is unique.",
  options: { reason: { type: "string" } },
  help: { reason: "TEXT: Reason to give to the agent", json: "Print the requests as JSON" },
  examples: [
    ["Deny a command", "sallyport deny 019a8b2c"],
    ["Deny a command and tell the agent why", "sallyport deny 019a8b2c --reason 'use the staging database'"],
  ],
  run: (invocation) => {
    const reason = textOption(invocation.values, "reason");
    return forEachApproval(invocation, (approvals, id) => {
      const approval = approvals.decide(id, { decision: "deny", ...localUser(), ...(reason ? { reason } : {}) });
      invocation.io.err(`${approval.status === "denied" ? "Denied" : "Decision recorded"}: ${commandOf(approval)}\n`);
      return approval;
    });
  },
};
