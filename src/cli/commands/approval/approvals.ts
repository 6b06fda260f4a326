import { approvalText } from "../../../approval/render.ts";
import type { ApprovalStatus } from "../../../core/approval.ts";
import type { Command, Invocation } from "../../command.ts";
import { printOneOrMany } from "../../io.ts";
import { withApprovals } from "../../open.ts";
import { choiceOption, countOption, textOption } from "../../options.ts";
import { printList } from "../../table.ts";
import { approvalColumns, PIPED_APPROVAL_COLUMNS } from "./columns.ts";

const STATUSES = ["pending", "approved", "denied", "expired", "used"] as const;

export const approvals: Command = {
  name: "approvals",
  summary: "Review approval requests",
  usage: "sallyport approvals [OPTIONS] [ID...]",
  description: `
    On a terminal, shows pending requests in a live list in which you can approve and deny them. With an ID, prints the
    complete request.`,
  options: {
    all: { type: "boolean", short: "a" },
    status: { type: "string" },
    limit: { type: "string" },
    once: { type: "boolean" },
  },
  help: {
    all: "Show all requests (default: only pending requests)",
    status: "STATUS: Show only requests with this status: pending, approved, denied, expired or used",
    limit: "N: Show only the N latest requests (default: 50)",
    once: "Print the list and exit (default when stdout is not a terminal)",
    agent: "NAME: Show only the requests of this agent",
    json: "Print JSON",
  },
  choices: { status: STATUSES },
  sections: {
    Keys: [
      ["o", "Approve once"],
      ["a", "Approve and create a standing grant"],
      ["d", "Deny, with an optional reason"],
      ["j k", "Select the next or previous request (also: arrow keys)"],
      ["space b", "Scroll the request (also: PageDown and PageUp)"],
      ["q", "Quit"],
    ],
    Output: `When stdout is not a terminal, each request is one line of tab-separated columns without a header: ID, AGENT,
      STATUS, CREATED, EXPIRES, COMMAND.`,
  },
  examples: [
    ["Review pending requests", "sallyport approvals"],
    ["Show a complete request", "sallyport approvals 019a8b2c"],
    ["Print all requests as JSON", "sallyport approvals --all --json"],
  ],
  run: async (invocation) => {
    const { values, io } = invocation;
    const ids = [...invocation.positionals, ...(invocation.rest ?? [])];
    const query = queryOf(values);
    const live = io.isTTY.stdin && io.isTTY.stdout && !(values.json || values.once || values.all || values.status);
    return withApprovals(invocation, async (approvals) => {
      if (ids.length > 0) {
        const found = ids.map((id) => approvals.get(id));
        if (values.json) printOneOrMany(found, io);
        else io.out(found.map((each) => approvalText(each, { ...io, nowMs: Date.now() })).join("\n"));
      } else if (live) {
        const { showApprovals } = await import("./approvals-screen.ts");
        await showApprovals(approvals, query, io);
      } else {
        const found = approvals.list(query);
        const columns = () => approvalColumns(found, { nowMs: Date.now(), color: io.color });
        printList(
          found,
          {
            columns,
            piped: PIPED_APPROVAL_COLUMNS,
            empty: values.all || values.status ? "No requests." : "No pending requests.",
          },
          invocation,
        );
      }
      return 0;
    });
  },
};

function queryOf(values: Invocation["values"]): { status?: ApprovalStatus; agent?: string; limit?: number } {
  const status = choiceOption(values, "status", STATUSES) ?? (values.all ? undefined : "pending");
  const agent = textOption(values, "agent");
  const limit = countOption(values, "limit");
  return { ...(status ? { status } : {}), ...(agent ? { agent } : {}), ...(limit === undefined ? {} : { limit }) };
}
