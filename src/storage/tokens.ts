import { createHash, randomBytes } from "node:crypto";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { NewAuditEntry } from "../core/audit.ts";
import { isOverdue } from "../core/clock.ts";
import { type ErrorText, SallyportError } from "../core/error.ts";
import { newId } from "../core/id.ts";
import { agentName } from "../core/names.ts";
import { operatorStep } from "../core/next-step.ts";
import { NAME_LENGTH } from "../text/output-limits.ts";
import { inTransaction } from "./database.ts";
import { Deadlines } from "./deadlines.ts";

const quoted = (name: string) => JSON.stringify(name.slice(0, NAME_LENGTH));

function badTokenName(name: string): ErrorText {
  const rule = "1 to 63 letters, digits, `_`, `.`, `:`, `@` or `-`";
  return [
    `${quoted(name)} is not a valid token name.`,
    [{ action: "fix_request", hint: `Use ${rule}, with a letter, digit or \`_\` at both ends.` }],
  ];
}

function tokenNameTaken(name: string): ErrorText {
  return [
    `A token named ${quoted(name)} already exists or was revoked.`,
    [{ action: "other_name", hint: "Choose another name. Names are not reused, because audit entries refer to them." }],
  ];
}

function noSuchToken(reference: string): ErrorText {
  return [
    `No such token: ${quoted(reference)}.`,
    [operatorStep("list_tokens", "List all tokens with `sallyport token list`.")],
  ];
}

/** All roles of tokens. */
export const TOKEN_ROLES = ["agent", "viewer", "approver", "operator"] as const;
/**
 * The role of a token. `agent` may only act as one agent. The others are for people: a viewer may read, an approver may
 * also decide approval requests, and an operator has all rights.
 */
export type TokenRole = (typeof TOKEN_ROLES)[number];

/** A token of an HTTP or MCP client, without its secret. */
export interface Token {
  /** The unique ID. */
  id: string;
  /** The name, which is never reused. */
  name: string;
  /** The role. */
  role: TokenRole;
  /** The agent that the token acts for. Empty for a person. */
  agent: string;
  /** When the token was created (ISO 8601). */
  createdAt: string;
  /** The name of the person who created the token. */
  createdBy: string;
  /** When the token expires (ISO 8601). Null when it never expires. */
  expiresAt: string | null;
  /** The time of the last use, to the minute (ISO 8601). Null when the token was never used. */
  lastUsedAt: string | null;
  /** When the token was revoked (ISO 8601). Null when it was not revoked. */
  revokedAt: string | null;
}

/** A token to create. */
export interface NewToken {
  /** The name: 1 to 63 letters, digits, `_`, `.`, `:`, `@` or `-`. */
  name: string;
  /** The role. */
  role: TokenRole;
  /** The agent that the token acts for. Empty for a person. */
  agent: string;
  /** The name of the person who creates the token. */
  createdBy: string;
  /** Milliseconds until the token expires. Default: it never expires. */
  expiresMs?: number | undefined;
}

interface TokenRow {
  id: string;
  name: string;
  role: TokenRole;
  agent: string;
  created_ms: number;
  created_by: string;
  expires_ms: number | null;
  last_used_ms: number | null;
  revoked_ms: number | null;
}

/** Makes leaked tokens recognizable to secret scanners. */
const PREFIX = "sallyport_";
const SECRET_BYTES = 32;
/** The shortest time between updates of `last_used_ms`, so that most requests do not write. */
const USED_EVERY_MS = 60_000;
const NAME = /^[A-Za-z0-9_](?:[\w.:@-]{0,61}[A-Za-z0-9_])?$/;

/** The bearer tokens of HTTP and MCP clients. Only a hash of each secret is stored. */
export class Tokens {
  readonly #database: DatabaseSync;
  readonly #insert: StatementSync;
  readonly #byHash: StatementSync;
  readonly #byReference: StatementSync;
  readonly #all: StatementSync;
  readonly #used: StatementSync;
  readonly #revoke: StatementSync;
  readonly #deadlines: Deadlines;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#deadlines = new Deadlines(database, "tokens");
    this.#insert = database.prepare(
      `INSERT INTO tokens (id, name, role, agent, hash, created_ms, created_by, expires_ms, lasts_ms)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#byHash = database.prepare("SELECT * FROM tokens WHERE hash = ?");
    this.#byReference = database.prepare("SELECT * FROM tokens WHERE id = ? OR name = ? COLLATE NOCASE");
    this.#all = database.prepare("SELECT * FROM tokens ORDER BY id");
    this.#used = database.prepare("UPDATE tokens SET last_used_ms = ? WHERE id = ?");
    this.#revoke = database.prepare("UPDATE tokens SET revoked_ms = ? WHERE id = ? AND revoked_ms IS NULL");
  }

  /**
   * Creates a token. The secret is returned only here. Throws `InvalidRequest` for an invalid name and `NameInUse` for
   * a name that a token has or had.
   */
  create({ name, role, agent, createdBy, expiresMs }: NewToken): { token: Token; secret: string } {
    if (!NAME.test(name)) throw new SallyportError("InvalidRequest", ...badTokenName(name));
    const owner = role === "agent" ? agentName(agent) : "";
    const secret = PREFIX + randomBytes(SECRET_BYTES).toString("base64url");
    const nowMs = Date.now();
    const expires = expiresMs === undefined ? null : nowMs + expiresMs;
    return inTransaction(this.#database, () => {
      if (this.#find(name)) throw new SallyportError("NameInUse", ...tokenNameTaken(name));
      this.#insert.run(newId(), name, role, owner, hashOf(secret), nowMs, createdBy, expires, expiresMs ?? null);
      return { token: this.get(name), secret };
    });
  }

  /** Returns the token with this secret. Returns null when there is none or it is no longer valid. */
  verify(secret: string): Token | null {
    const nowMs = this.#now();
    const row = this.#byHash.get(hashOf(secret)) as unknown as TokenRow | undefined;
    if (!row || !isGood(row, nowMs)) return null;
    if (isOverdue(row.last_used_ms ?? 0, USED_EVERY_MS)) this.#used.run(nowMs, row.id);
    return tokenOf(row);
  }

  /** Reports whether a token is still valid. */
  isGood(id: string): boolean {
    const nowMs = this.#now();
    const row = this.#find(id);
    return row !== null && isGood(row, nowMs);
  }

  /** Returns a token by ID or name. Throws `TokenNotFound`. */
  get(reference: string): Token {
    const row = this.#find(reference);
    if (!row) throw new SallyportError("TokenNotFound", ...noSuchToken(reference));
    return tokenOf(row);
  }

  /** Returns all tokens, oldest first. */
  list(): Token[] {
    return (this.#all.all() as unknown as TokenRow[]).map(tokenOf);
  }

  /** Revokes a token. Revoking it again has no effect. Throws `TokenNotFound`. */
  revoke(reference: string): Token {
    const { id } = this.get(reference);
    this.#revoke.run(Date.now(), id);
    return this.get(id);
  }

  /** Returns the time, after correcting the expiry of tokens if the clock was set back. */
  #now(): number {
    const nowMs = Date.now();
    this.#deadlines.limit(nowMs);
    return nowMs;
  }

  #find(reference: string): TokenRow | null {
    return (this.#byReference.get(reference, reference) as unknown as TokenRow | undefined) ?? null;
  }
}

/** Returns the hash of a secret. It needs no salt, because the secret has 256 random bits. */
function hashOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

function isGood({ revoked_ms, expires_ms }: TokenRow, nowMs: number): boolean {
  return revoked_ms === null && (expires_ms === null || expires_ms > nowMs);
}

function tokenOf(row: TokenRow): Token {
  const time = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());
  return {
    id: row.id,
    name: row.name,
    role: row.role,
    agent: row.agent,
    createdAt: new Date(row.created_ms).toISOString(),
    createdBy: row.created_by,
    expiresAt: time(row.expires_ms),
    lastUsedAt: time(row.last_used_ms),
    revokedAt: time(row.revoked_ms),
  };
}

/** Returns the audit entry for a token, without its secret. */
export function tokenAuditEntry(
  { id, name, role, agent, expiresAt }: Token,
  outcome: "created" | "revoked",
  { who, channel }: { who: string; channel: string },
): NewAuditEntry {
  const detail = { id, role, expiresAt };
  return { kind: "token", agent, session: null, actor: who, channel, outcome, summary: `token ${name}`, detail };
}
