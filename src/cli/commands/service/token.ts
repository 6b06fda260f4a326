import type { DatabaseSync } from "node:sqlite";
import type { Token, TokenRole, Tokens } from "../../../storage/tokens.ts";
import type { Column } from "../../../text/table.ts";
import { shownLine } from "../../../text/visible.ts";
import { type Command, type Invocation, UsageError } from "../../command.ts";
import { printJson } from "../../io.ts";
import { withDatabase } from "../../open.ts";
import { choiceOption, durationOption, textOption } from "../../options.ts";
import { assertPerson, localUser } from "../../person.ts";
import { agoText, expiryText, printList } from "../../table.ts";

export const token: Command = {
  name: "token",
  summary: "Make, list and revoke the tokens that programs show over HTTP",
  usage:
    "sallyport token create NAME [OPTIONS]\n       sallyport token [list]\n       sallyport token revoke NAME…\n       sallyport token link [URL]",
  options: {
    role: { type: "string" },
    expires: { type: "string" },
    all: { type: "boolean", short: "a" },
  },
  help: {
    role: "ROLE: with create: agent (acts as one agent), viewer, approver or operator (a person) [agent]",
    expires: "DUR: with create, how long it is good [until it is revoked]",
    all: "list those that were revoked too",
    agent: "NAME: with create, on whose behalf it may act [default]",
    json: "print JSON",
  },
  actions: ["create", "list", "revoke", "link"],
  examples: [
    "sallyport token create laptop --agent builder --expires 30d",
    "sallyport token",
    "sallyport token create ann --role approver",
    "sallyport token revoke laptop",
    "sallyport token link http://127.0.0.1:4180",
  ],
  notes: `\`create\` prints the token on stdout, this once: only a hash of it is kept.
\`link\` prints an address that signs you in to a running \`sallyport serve\` as an operator, once and within ten minutes.
Piped, \`list\` prints ID, NAME, ROLE, AGENT, STATUS, LAST USED, EXPIRES, BY with tabs between.`,
  run: (invocation) => {
    const [action = "list", ...names] = [...invocation.positionals, ...(invocation.rest ?? [])];
    if (action === "create") return create(invocation, names);
    if (action === "revoke") return revoke(invocation, names);
    if (action === "link") return link(invocation, names);
    if (action !== "list")
      throw new UsageError(`\`token\` knows create, list, revoke and link; received \`${action}\``);
    if (names[0] !== undefined) throw new UsageError(`\`token list\` takes no \`${names[0]}\``);
    return list(invocation);
  },
};

const ROLES = ["agent", "viewer", "approver", "operator"] as const satisfies readonly TokenRole[];

async function create(invocation: Invocation, [name, unexpected]: string[]): Promise<number> {
  const { values, io } = invocation;
  if (name === undefined) throw new UsageError("what is it to be called? Give a name: `token create laptop`");
  if (unexpected !== undefined)
    throw new UsageError(`\`token create\` makes one token; \`${unexpected}\` came after it`);
  const role = choiceOption(values, "role", ROLES) ?? "agent";
  const expiresMs = durationOption(values, "expires");
  if (expiresMs === 0) throw new UsageError("`--expires` must be in the future; received `0`");
  const named = textOption(values, "agent");
  if (role !== "agent" && named !== undefined) throw new UsageError(`a ${role} is a person: leave \`--agent\` out`);
  const agent = role === "agent" ? (named ?? "default") : "";
  return withTokens(invocation, async (tokens, note) => {
    const made = tokens.create({ name, role, agent, createdBy: localUser().who, expiresMs });
    note(made.token, "created");
    if (values.json) printJson({ ...made.token, token: made.secret }, io);
    else io.out(`${made.secret}\n`);
    if (io.isTTY.stderr) io.err("Keep it where only its program can read it; it is not shown again.\n");
    return 0;
  });
}

async function revoke(invocation: Invocation, names: string[]): Promise<number> {
  if (names.length === 0) throw new UsageError("which token? Give its name or id");
  return withTokens(invocation, async (tokens, note) => {
    const revoked = names.map((name) => {
      const gone = tokens.revoke(name);
      note(gone, "revoked");
      return gone;
    });
    if (invocation.values.json) printJson(revoked, invocation.io);
    return 0;
  });
}

/** Into a service that runs on the same state folder. */
async function link(invocation: Invocation, [url = "http://127.0.0.1:4180", unexpected]: string[]): Promise<number> {
  if (unexpected !== undefined)
    throw new UsageError(`\`token link\` takes one address; \`${unexpected}\` came after it`);
  if (!/^https?:\/\/[^/\s]+\/?$/.test(url)) {
    throw new UsageError(
      `\`token link\` takes the address of a service, such as http://127.0.0.1:4180; received \`${url}\``,
    );
  }
  await assertPerson();
  const [{ signInUrl, createOperatorLink }, { SignIns }, { AuditLog }] = await Promise.all([
    import("../../../http/sign-in-link.ts"),
    import("../../../storage/sign-ins.ts"),
    import("../../../storage/audit.ts"),
  ]);
  return withDatabase(invocation, async (database) => {
    const secret = createOperatorLink(new SignIns(database), new AuditLog(database), localUser().who);
    const address = signInUrl(url.replace(/\/$/, ""), secret);
    if (invocation.values.json) printJson({ link: address }, invocation.io);
    else invocation.io.out(`${address}\n`);
    return 0;
  });
}

async function list(invocation: Invocation): Promise<number> {
  const { values } = invocation;
  const { Tokens } = await import("../../../storage/tokens.ts");
  return withDatabase(invocation, async (database) => {
    const found = new Tokens(database).list().filter(({ revokedAt }) => values.all || revokedAt === null);
    const empty = "There are no tokens; `sallyport token create NAME` makes one.";
    printList(found, { columns: () => tokenColumns(Date.now()), piped: PIPED_TOKEN_COLUMNS, empty }, invocation);
    return 0;
  });
}

type Note = (token: Token, outcome: "created" | "revoked") => void;

/** For persons only: an agent that could make itself a token could be any agent (promise 7). */
async function withTokens(
  invocation: Invocation,
  use: (tokens: Tokens, note: Note) => Promise<number>,
): Promise<number> {
  await assertPerson();
  const { Tokens } = await import("../../../storage/tokens.ts");
  return withDatabase(invocation, async (database) => use(new Tokens(database), await audited(database)));
}

async function audited(database: DatabaseSync): Promise<Note> {
  const [{ AuditLog }, { tokenAuditEntry }] = await Promise.all([
    import("../../../storage/audit.ts"),
    import("../../../storage/tokens.ts"),
  ]);
  const audit = new AuditLog(database);
  return (token, outcome) => audit.append(tokenAuditEntry(token, outcome, localUser()));
}

function tokenColumns(nowMs: number): Column<Token>[] {
  return [
    { title: "NAME", value: ({ name }) => name },
    { title: "ROLE", value: ({ role }) => role },
    { title: "AGENT", value: ({ agent }) => shownLine(agent), flexible: true },
    { title: "STATUS", value: (token) => tokenStatus(token, nowMs) },
    { title: "USED", value: ({ lastUsedAt }) => agoText(lastUsedAt, nowMs) },
    { title: "EXPIRES", value: ({ expiresAt }) => expiryText(expiresAt, nowMs) },
    { title: "BY", value: ({ createdBy }) => shownLine(createdBy) },
  ];
}

/** For a program. */
const PIPED_TOKEN_COLUMNS: Column<Token>[] = [
  { title: "ID", value: ({ id }) => id },
  { title: "NAME", value: ({ name }) => name },
  { title: "ROLE", value: ({ role }) => role },
  { title: "AGENT", value: ({ agent }) => shownLine(agent) },
  { title: "STATUS", value: (token) => tokenStatus(token, Date.now()) },
  { title: "LAST USED", value: ({ lastUsedAt }) => lastUsedAt ?? "never" },
  { title: "EXPIRES", value: ({ expiresAt }) => expiresAt ?? "never" },
  { title: "BY", value: ({ createdBy }) => shownLine(createdBy) },
];

function tokenStatus({ revokedAt, expiresAt }: Token, nowMs: number): string {
  if (revokedAt !== null) return "revoked";
  return expiresAt !== null && Date.parse(expiresAt) <= nowMs ? "expired" : "good";
}
