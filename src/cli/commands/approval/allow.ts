import { resolve } from "node:path";
import type { Grant } from "../../../core/approval.ts";
import type { AllowEntry } from "../../../core/policy.ts";
import type { Column } from "../../../text/table.ts";
import { shownLine } from "../../../text/visible.ts";
import { type Command, type Invocation, UsageError } from "../../command.ts";
import { printJson } from "../../io.ts";
import { withApprovals, withDatabase } from "../../open.ts";
import { textOption } from "../../options.ts";
import { assertPerson, localUser } from "../../person.ts";
import { agoText, expiryText, printList, shortIds } from "../../table.ts";
import { grantScope } from "./approval-arguments.ts";
import { grantText } from "./columns.ts";

export const allow: Command = {
  name: "allow",
  summary: "List, add and take back what is allowed for good",
  usage:
    "sallyport allow [list] [OPTIONS]\n       sallyport allow add [OPTIONS] -- PROGRAM ARG…\n       sallyport allow remove ID…",
  options: {
    all: { type: "boolean", short: "a" },
    configured: { type: "boolean" },
    args: { type: "string" },
    cwd: { type: "string" },
    expires: { type: "string" },
  },
  help: {
    all: "list those that were taken back or have expired too",
    configured: "list the configured allowlist instead, and when each entry was last used",
    args: "PATTERNS: with add, one pattern per argument instead of these exact arguments",
    cwd: "DIR: with add, only in this folder [the current one]",
    expires: "DUR: with add, only for this long",
    agent: "NAME: list only this agent's",
    json: "print JSON",
  },
  actions: ["list", "add", "remove"],
  examples: [
    "sallyport allow",
    "sallyport allow add --expires 8h -- git fetch origin",
    "sallyport allow add --agent builder --args 'test **' -- npm test",
    "sallyport allow remove 019a8b2c",
    "sallyport allow list --all --json",
  ],
  notes: `A grant is also made with \`sallyport approve --always\` or with \`a\` in \`sallyport approvals\`.
Piped, there are no titles and tabs stand between the columns:
ID, AGENT, STATUS, LAST USED, EXPIRES, BY, FOLDER, COMMAND.`,
  run: (invocation) => {
    const [action = "list", ...ids] = [...invocation.positionals, ...(invocation.rest ?? [])];
    if (action === "remove" && ids.length > 0) return remove(invocation, ids);
    if (action === "remove") throw new UsageError("which grant? Give an id or the beginning of one");
    if (action === "add") return add(invocation, ids);
    if (action !== "list") throw new UsageError(`\`allow\` knows list, add and remove; received \`${action}\``);
    return invocation.values.configured ? listConfigured(invocation) : list(invocation);
  },
};

async function list(invocation: Invocation): Promise<number> {
  const { values } = invocation;
  return withApprovals(invocation, async ({ grants }) => {
    const found = grants.list({ agent: textOption(values, "agent"), all: values.all === true });
    const columns = () => grantColumns(found, Date.now());
    printList(found, { columns, piped: PIPED_GRANT_COLUMNS, empty: "Nothing is allowed for good." }, invocation);
    return 0;
  });
}

/** Made without having been asked: held to the same rules as a yes to a request. */
async function add(invocation: Invocation, argv: string[]): Promise<number> {
  const { values, io } = invocation;
  if (argv.length === 0) throw new UsageError("what to allow? Give `-- PROGRAM ARG…`");
  const { grantTargets } = await import("../../../gateway/check.ts");
  await assertPerson();
  const agent = textOption(values, "agent") ?? "default";
  const targets = grantTargets(argv, resolve(textOption(values, "cwd") ?? "."), agent);
  const scope = grantScope({ ...values, always: true }) ?? {};
  return withApprovals(invocation, async ({ grants }) => {
    const made = targets.map((target) =>
      grants.make({ agent, target, identity: null, scope, ...localUser(), approval: null }),
    );
    for (const grant of made) io.err(`From now on: ${grantText(grant)}\n`);
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
    const empty = "The allowlist is empty; `allowlist` in sallyport.json fills it.";
    printList(entries, { columns: () => ALLOWLIST_COLUMNS, piped: ALLOWLIST_COLUMNS, empty }, invocation);
    return 0;
  });
}

async function remove(invocation: Invocation, ids: string[]): Promise<number> {
  await assertPerson();
  return withApprovals(invocation, async ({ grants }) => {
    const removed = ids.map((id) => grants.revoke(id, localUser()));
    for (const grant of removed) invocation.io.err(`No longer allowed: ${grantText(grant)}\n`);
    if (invocation.values.json) printJson(removed, invocation.io);
    return 0;
  });
}

/** Grants, for a person. */
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
  return current ? "live" : "program changed";
}

/** The configured allowlist, and when each entry was last used. */
const ALLOWLIST_COLUMNS: Column<Omit<AllowEntry, "lastUsed"> & { lastUsed: string | null }>[] = [
  { title: "PATTERN", value: ({ pattern }) => shownLine(pattern) },
  { title: "ARGUMENTS", value: ({ args }) => (args === undefined ? "any" : shownLine(args)) },
  { title: "FOLDER", value: ({ cwd }) => shownLine(cwd ?? "any") },
  { title: "EXPIRES", value: ({ expires }) => expires ?? "never" },
  { title: "USED", value: ({ lastUsed }) => lastUsed ?? "never" },
  { title: "NOTE", value: ({ note }) => shownLine(note ?? ""), flexible: true },
];
