import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import type { Token, TokenRole, Tokens } from "../../../storage/tokens.ts";
import type { Column } from "../../../text/table.ts";
import { shownLine } from "../../../text/visible.ts";
import { type Command, type Invocation, UsageError } from "../../command.ts";
import { printJson } from "../../io.ts";
import { withDatabase } from "../../open.ts";
import { choiceOption, durationOption, textOption } from "../../options.ts";
import { assertAttended, assertPerson, localUser } from "../../person.ts";
import { agoText, expiryText, printList } from "../../table.ts";

export const token: Command = {
  name: "token",
  summary: "Create, list and revoke access tokens",
  usage:
    "sallyport token [list]\n       sallyport token create NAME [OPTIONS]\n       sallyport token revoke NAME...\n       sallyport token link [URL]",
  description: `
    Tokens authenticate agents, programs and people to \`sallyport serve\` and \`sallyport mcp --http\`. A new token is
    printed once; only its hash is stored. Write it to a file rather than passing it in the arguments of a program, where
    other processes can read it.`,
  actions: {
    list: "List tokens (default)",
    create: "Create a token and print it",
    revoke: "Revoke tokens by name or ID",
    link: "Print a one-time link that signs you in to the console as an operator; it expires after ten minutes",
  },
  options: {
    role: { type: "string" },
    expires: { type: "string" },
    "token-file": { type: "string" },
    "header-file": { type: "string" },
    all: { type: "boolean", short: "a" },
  },
  help: {
    role: "ROLE: Role of the token: agent, viewer, approver or operator (default: agent)",
    expires: "DUR: Lifetime of the token (default: until it is revoked)",
    "token-file": "FILE: Write the token to a new file that only you can read, instead of printing it",
    "header-file": "FILE: Write the HTTP header with the token to such a file, for `curl -H @FILE`",
    all: "Also show revoked tokens",
    agent: 'NAME: Agent that the token acts as, for role agent (default: "default")',
    json: "Print JSON",
  },
  groups: {
    "Options for list": ["all"],
    "Options for create": ["role", "agent", "expires", "token-file", "header-file"],
  },
  sections: {
    Output: `When stdout is not a terminal, list prints one line of tab-separated columns per token, without a header: ID, NAME,
      ROLE, AGENT, STATUS, LAST USED, EXPIRES, BY.`,
  },
  examples: [
    ["Create a token for an agent", "sallyport token create laptop --agent builder --expires 30d"],
    ["Create a token for an approver", "sallyport token create ann --role approver"],
    [
      "Create a token for a program, without printing it",
      "sallyport token create ops --role operator --header-file ~/.config/sallyport/tokens/ops",
    ],
    ["List tokens", "sallyport token"],
    ["Revoke a token", "sallyport token revoke laptop"],
    ["Print a sign-in link", "sallyport token link http://127.0.0.1:4180"],
  ],
  run: (invocation) => {
    const [action = "list", ...names] = [...invocation.positionals, ...(invocation.rest ?? [])];
    if (action === "create") return create(invocation, names);
    if (action === "revoke") return revoke(invocation, names);
    if (action === "link") return link(invocation, names);
    if (action !== "list")
      throw new UsageError(`unknown subcommand \`token ${action}\`; use list, create, revoke or link`);
    if (names[0] !== undefined) throw new UsageError(`unexpected argument \`${names[0]}\` for \`token list\``);
    return list(invocation);
  },
};

const ROLES = ["agent", "viewer", "approver", "operator"] as const satisfies readonly TokenRole[];

async function create(invocation: Invocation, [name, unexpected]: string[]): Promise<number> {
  const { values, io } = invocation;
  if (name === undefined) throw new UsageError("no name given; use `sallyport token create NAME`");
  if (unexpected !== undefined)
    throw new UsageError(`unexpected argument \`${unexpected}\`; \`token create\` takes one name`);
  const role = choiceOption(values, "role", ROLES) ?? "agent";
  const expiresMs = durationOption(values, "expires");
  if (expiresMs === 0) throw new UsageError("`--expires` must be greater than 0");
  const named = textOption(values, "agent");
  if (role !== "agent" && named !== undefined)
    throw new UsageError(`\`--agent\` cannot be used with \`--role ${role}\``);
  const agent = role === "agent" ? (named ?? "default") : "";
  const files = secretFiles(values);
  await assertAttended();
  return withTokens(invocation, async (tokens, note) => {
    const opened = files.map(({ path, ...file }) => ({ ...file, descriptor: createPrivate(path) }));
    const made = tokens.create({ name, role, agent, createdBy: localUser().who, expiresMs });
    note(made.token, "created");
    for (const { descriptor, before } of opened) {
      writeSync(descriptor, `${before}${made.secret}\n`);
      closeSync(descriptor);
    }
    if (values.json) printJson({ ...made.token, ...(opened.length > 0 ? {} : { token: made.secret }) }, io);
    else if (opened.length === 0) io.out(`${made.secret}\n`);
    if (opened.length === 0 && io.isTTY.stderr) io.err("Store this token securely. It is not shown again.\n");
    return 0;
  });
}

/** Returns the files to write, with the text before the token. */
function secretFiles(values: Invocation["values"]): { path: string; before: string }[] {
  const token = textOption(values, "token-file");
  const header = textOption(values, "header-file");
  return [
    ...(token === undefined ? [] : [{ path: token, before: "" }]),
    ...(header === undefined ? [] : [{ path: header, before: "Authorization: Bearer " }]),
  ];
}

/** Creates a file that only its owner can read. An existing file is not overwritten: others may have it open. */
function createPrivate(path: string): number {
  try {
    mkdirSync(dirname(resolve(path)), { recursive: true, mode: 0o700 });
    return openSync(path, "wx", 0o600);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new UsageError(
      code === "EEXIST" ? `the file \`${path}\` already exists; remove it or choose another name` : message,
    );
  }
}

async function revoke(invocation: Invocation, names: string[]): Promise<number> {
  if (names.length === 0) throw new UsageError("no token given; use its name or ID");
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

/** Prints a sign-in link for a service that uses the same state folder. */
async function link(invocation: Invocation, [url = "http://127.0.0.1:4180", unexpected]: string[]): Promise<number> {
  if (unexpected !== undefined)
    throw new UsageError(`unexpected argument \`${unexpected}\`; \`token link\` takes one URL`);
  if (!/^https?:\/\/[^/\s]+\/?$/.test(url)) {
    throw new UsageError(
      `the URL must be the address of a service, such as http://127.0.0.1:4180; received \`${url}\``,
    );
  }
  await assertAttended();
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
    const empty = "No tokens. Create one with `sallyport token create NAME`.";
    printList(found, { columns: () => tokenColumns(Date.now()), piped: PIPED_TOKEN_COLUMNS, empty }, invocation);
    return 0;
  });
}

type Note = (token: Token, outcome: "created" | "revoked") => void;

/**
 * Calls `use` with the tokens of the state folder. Throws unless a person runs the command, because an agent that could
 * create tokens could act as any agent (invariant 7).
 */
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

/** The columns for a pipe. */
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
  return expiresAt !== null && Date.parse(expiresAt) <= nowMs ? "expired" : "active";
}
