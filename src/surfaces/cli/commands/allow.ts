import type { Grant } from "../../../contract/approval.ts";
import { grantColumns, grantText, PIPED_GRANT_COLUMNS } from "../../../present/approval-table.ts";
import { alignedTable, tabbedTable } from "../../../present/table.ts";
import { decider } from "../approvals/decider.ts";
import { withApprovals } from "../approvals/with-approvals.ts";
import type { Command, Invocation, Io } from "../command.ts";
import { textOption } from "../option.ts";
import { printJson } from "../print-json.ts";
import { UsageError } from "../usage-error.ts";

export const allow: Command = {
  name: "allow",
  summary: "List and take back what was allowed for good",
  usage: "sallyport allow [list | remove ID…] [OPTIONS]",
  options: { all: { type: "boolean", short: "a" } },
  help: {
    all: "list those that were taken back or have expired too",
    agent: "NAME: list only this agent's",
    json: "print JSON",
  },
  examples: ["sallyport allow", "sallyport allow remove 019a8b2c", "sallyport allow list --all --json"],
  notes: `A grant is made with \`sallyport approve --always\` or with \`a\` in \`sallyport approvals\`.
Piped, there are no titles and tabs stand between the columns:
ID, AGENT, STATUS, LAST USED, EXPIRES, BY, FOLDER, COMMAND.`,
  run: (invocation) => {
    const [action = "list", ...ids] = [...invocation.positionals, ...(invocation.rest ?? [])];
    if (action === "remove" && ids.length > 0) return remove(invocation, ids);
    if (action === "remove") throw new UsageError("which grant? Give an id or the beginning of one");
    if (action !== "list") throw new UsageError(`\`allow\` knows list and remove; received \`${action}\``);
    return list(invocation);
  },
};

async function list(invocation: Invocation): Promise<number> {
  const { values, io } = invocation;
  return withApprovals(invocation, async ({ grants }) => {
    const found = grants.list({ agent: textOption(values, "agent"), all: values.all === true });
    if (values.json) printJson(found, io);
    else printTable(found, io);
    return 0;
  });
}

async function remove(invocation: Invocation, ids: string[]): Promise<number> {
  const { insistOnPerson, whoIsAbove } = await import("../../../approval/inside-session.ts");
  insistOnPerson(whoIsAbove(), null);
  return withApprovals(invocation, async ({ grants }) => {
    const removed = ids.map((id) => grants.revoke(id, decider()));
    for (const grant of removed) invocation.io.err(`No longer allowed: ${grantText(grant)}\n`);
    if (invocation.values.json) printJson(removed, invocation.io);
    return 0;
  });
}

function printTable(grants: Grant[], io: Io): void {
  if (!io.isTTY.stdout) io.out(tabbedTable(PIPED_GRANT_COLUMNS, grants));
  else if (grants.length === 0) io.err("Nothing is allowed for good.\n");
  else io.out(alignedTable(grantColumns(grants, { nowMs: Date.now(), color: io.color }), grants, io.columns));
}
