import { resolve } from "node:path";
import type { Grant } from "../../../core/approval.ts";
import type { AllowEntry } from "../../../core/policy.ts";
import type { Column } from "../../../text/table.ts";
import { shownLine } from "../../../text/visible.ts";
import { type Command, type Invocation, UsageError } from "../../command.ts";
import { printJson } from "../../io.ts";
import { withApprovals, withDatabase } from "../../open.ts";
import { textOption } from "../../options.ts";
import { assertAttended, assertPerson, localUser } from "../../person.ts";
import { agoText, expiryText, printList, shortIds } from "../../table.ts";
import { grantScope } from "./approval-arguments.ts";
import { grantText } from "./columns.ts";

export const allow: Command = {
  name: "allow",
  summary: "Manage standing grants",
  usage:
    "sallyport allow [list] [OPTIONS]\n       sallyport allow add [OPTIONS] -- PROGRAM [ARG...]\n       sallyport allow remove ID...",
  description: `
    A standing grant lets an agent run a program with the given arguments in one directory without approval. Grants are
    also created by \`sallyport approve --always\` and with the \`a\` key in \`sallyport approvals\`.`,
  actions: {
    list: "List grants (default)",
    add: "Create a grant",
    remove: "Revoke grants",
  },
  options: {
    all: { type: "boolean", short: "a" },
    configured: { type: "boolean" },
    cwd: { type: "string" },
    expires: { type: "string" },
    args: { type: "string" },
  },
  help: {
    all: "Also show revoked and expired grants",
    configured: "Show the configured allowlist instead, with the last use of each entry",
    cwd: "DIR: Directory the grant applies to (default: the current directory)",
    expires: "DUR: Let the grant expire after this time (default: no expiry)",
    args: "PATTERNS: Allow arguments that match these patterns, one per argument (default: exactly the given arguments)",
    agent: "NAME: Agent whose grants are listed, or for which the grant is created",
    json: "Print JSON",
  },
  groups: {
    "Options for list": ["all", "configured"],
    "Options for add": ["cwd", "expires", "args"],
  },
  sections: {
    Patterns: `In a pattern, * matches any text without /, ? matches one character, and ** matches any text. A final ** matches
      any further arguments. Wildcards match neither options nor paths that contain "..".`,
    Output: `When stdout is not a terminal, each grant is one line of tab-separated columns without a header: ID, AGENT,
      STATUS, LAST USED, EXPIRES, BY, FOLDER, COMMAND.`,
  },
  examples: [
    ["List grants", "sallyport allow"],
    ["Allow a command for eight hours", "sallyport allow add --expires 8h -- git fetch origin"],
    [
      "Allow an agent to run tests with any arguments",
      "sallyport allow add --agent builder --args 'test **' -- npm test",
    ],
    ["Revoke a grant", "sallyport allow remove 019a8b2c"],
  ],
  run: (invocation) => {
    const [action = "list", ...ids] = [...invocation.positionals, ...(invocation.rest ?? [])];
    if (action === "remove" && ids.length > 0) return remove(invocation, ids);
    if (action === "remove") throw new UsageError("no grant given; use an ID or the beginning of an ID");
    if (action === "add") return add(invocation, ids);
    if (action !== "list") throw new UsageError(`unknown subcommand \`allow ${action}\`; use list, add or remove`);
    return invocation.values.configured ? listConfigured(invocation) : list(invocation);
  },
};

async function list(invocation: Invocation): Promise<number> {
  const { values } = invocation;
  return withApprovals(invocation, async ({ grants }) => {
    const found = grants.list({ agent: textOption(values, "agent"), all: values.all === true });
    const columns = () => grantColumns(found, Date.now());
    printList(found, { columns, piped: PIPED_GRANT_COLUMNS, empty: "No grants." }, invocation);
    return 0;
  });
}

/** Creates a grant without a request. The same restrictions apply as for `approve --always`. */
async function add(invocation: Invocation, argv: string[]): Promise<number> {
  const { values, io } = invocation;
  if (argv.length === 0) throw new UsageError("no command given; use `-- PROGRAM [ARG...]`");
  const { grantTargets } = await import("../../../gateway/check.ts");
  await assertAttended();
  const agent = textOption(values, "agent") ?? "default";
  const targets = grantTargets(argv, resolve(textOption(values, "cwd") ?? "."), agent);
  const scope = grantScope({ ...values, always: true }) ?? {};
  return withApprovals(invocation, async ({ grants }) => {
    const made = targets.map((target) =>
      grants.make({ agent, target, identity: null, scope, ...localUser(), approval: null }),
    );
    for (const grant of made) io.err(`Created grant: ${grantText(grant)}\n`);
    if (values.json) printJson(made, io);
    return 0;
  });
}

async function listConfigured(invocation: Invocation): Promise<number> {
  const { values } = invocation;
  const { loadConfig } = await import("../../../config/load.ts");
  const { AllowlistUse } = await import("../../../storage/allowlist-use.ts");
  const { allowlist } = loadConfig({ workspace: process.cwd() }).forAgent(textOption(values, "agent") ?? "default");
  return withDatabase(invocation, async (database) => {
    const used = new AllowlistUse(database);
    const entries = allowlist.map((entry) => ({ ...entry, lastUsed: used.lastUsed(entry.pattern) }));
    const empty = "The allowlist is empty. Add entries to `allowlist` in sallyport.json.";
    printList(entries, { columns: () => ALLOWLIST_COLUMNS, piped: ALLOWLIST_COLUMNS, empty }, invocation);
    return 0;
  });
}

async function remove(invocation: Invocation, ids: string[]): Promise<number> {
  await assertPerson();
  return withApprovals(invocation, async ({ grants }) => {
    const removed = ids.map((id) => grants.revoke(id, localUser()));
    for (const grant of removed) invocation.io.err(`Revoked grant: ${grantText(grant)}\n`);
    if (invocation.values.json) printJson(removed, invocation.io);
    return 0;
  });
}

/** Returns the columns for a terminal. */
function grantColumns(grants: Grant[], nowMs: number): Column<Grant>[] {
  const shorten = shortIds(grants.map(({ id }) => id));
  return [
    { title: "ID", value: ({ id }) => shorten(id) },
    { title: "AGENT", value: ({ agent }) => shownLine(agent) },
    { title: "STATUS", value: (grant) => grantStatus(grant, nowMs) },
    { title: "USED", value: ({ lastUsedAt }) => agoText(lastUsedAt, nowMs) },
    { title: "EXPIRES", value: ({ expiresAt }) => expiryText(expiresAt, nowMs) },
    { title: "BY", value: ({ createdBy }) => shownLine(createdBy) },
    { title: "FOLDER", value: ({ cwd }) => shownLine(cwd) },
    { title: "COMMAND", value: grantText, flexible: true },
  ];
}

const PIPED_GRANT_COLUMNS: Column<Grant>[] = [
  { title: "ID", value: ({ id }) => id },
  { title: "AGENT", value: ({ agent }) => shownLine(agent) },
  { title: "STATUS", value: (grant) => grantStatus(grant, Date.now()) },
  { title: "USED", value: ({ lastUsedAt }) => lastUsedAt ?? "-" },
  { title: "EXPIRES", value: ({ expiresAt }) => expiresAt ?? "-" },
  { title: "BY", value: ({ createdBy }) => shownLine(createdBy) },
  { title: "FOLDER", value: ({ cwd }) => shownLine(cwd) },
  { title: "COMMAND", value: grantText },
];

function grantStatus({ revokedAt, expiresAt, current }: Grant, nowMs: number): string {
  if (revokedAt !== null) return "revoked";
  if (expiresAt !== null && Date.parse(expiresAt) <= nowMs) return "expired";
  return current ? "active" : "program changed";
}

const ALLOWLIST_COLUMNS: Column<Omit<AllowEntry, "lastUsed"> & { lastUsed: string | null }>[] = [
  { title: "PATTERN", value: ({ pattern }) => shownLine(pattern) },
  { title: "ARGUMENTS", value: ({ args }) => (args === undefined ? "any" : shownLine(args)) },
  { title: "FOLDER", value: ({ cwd }) => shownLine(cwd ?? "any") },
  { title: "EXPIRES", value: ({ expires }) => expires ?? "never" },
  { title: "USED", value: ({ lastUsed }) => lastUsed ?? "never" },
  { title: "NOTE", value: ({ note }) => shownLine(note ?? ""), flexible: true },
];
