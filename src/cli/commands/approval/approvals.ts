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
  summary: "See what waits for a person, and decide",
  usage: "sallyport approvals [OPTIONS] [ID…]",
  options: {
    all: { type: "boolean", short: "a" },
    status: { type: "string" },
    limit: { type: "string" },
    once: { type: "boolean" },
  },
  help: {
    all: "show decided, used and expired ones too, not only those that wait",
    status: "WORD: only these: pending, approved, denied, expired or used",
    limit: "N: show at most the N latest [50]",
    once: "print the list and end, as when piped",
    agent: "NAME: only what this agent asked for",
  },
  choices: { status: STATUSES },
  examples: ["sallyport approvals", "sallyport approvals 019a8b2c", "sallyport approvals --all --json"],
  notes: `On a terminal the list is live: j and k move, o allows once, a for good, d denies, q leaves.
With an ID the whole request is printed, however long.
Piped, there are no titles and tabs stand between the columns: ID, AGENT, STATUS, CREATED, EXPIRES, COMMAND.`,
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
          { columns, piped: PIPED_APPROVAL_COLUMNS, empty: "Nothing waits for a decision." },
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
