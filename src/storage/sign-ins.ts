import { createHash, randomBytes } from "node:crypto";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { newId } from "../core/id.ts";
import { inTransaction } from "./database.ts";
import { Deadlines } from "./deadlines.ts";
import type { TokenRole } from "./tokens.ts";

/** A sign-in to the console. */
export interface SignIn {
  /** The unique ID. */
  id: string;
  /** The name of the person. */
  name: string;
  /** The role. */
  role: TokenRole;
  /** The agent that the sign-in acts for. Empty for a person. */
  agent: string;
  /** When the sign-in expires (ISO 8601). */
  expiresAt: string;
}

/** A sign-in to create. */
interface NewSignIn {
  /** The name of the person. */
  name: string;
  /** The role. */
  role: TokenRole;
  /** The agent that the sign-in acts for. Empty for a person. */
  agent: string;
  /** The ID of the token that was used. Null for a sign-in link. */
  token: string | null;
  /** Milliseconds until the sign-in expires. */
  expiresMs: number;
}

interface SignInRow {
  id: string;
  name: string;
  role: TokenRole;
  agent: string;
  expires_ms: number;
}

const SECRET_BYTES = 32;
/** A sign-in is valid until it expires or its token is revoked or expires. */
const GOOD = `sign_ins.expires_ms > ? AND (token IS NULL OR EXISTS (
  SELECT 1 FROM tokens WHERE tokens.id = token AND revoked_ms IS NULL AND (tokens.expires_ms IS NULL OR tokens.expires_ms > ?)))`;

/** The sign-ins to the console, and one-time sign-in links. A sign-in has a secret, the key, which the page stores. */
export class SignIns {
  // The key is not in a cookie: a browser sends cookies to every port of a host, and every port can replace them, also
  // a server that an agent's command runs there (invariant 7).
  readonly #database: DatabaseSync;
  readonly #putLink: StatementSync;
  readonly #link: StatementSync;
  readonly #takeLink: StatementSync;
  readonly #insert: StatementSync;
  readonly #byHash: StatementSync;
  readonly #good: StatementSync;
  readonly #end: StatementSync;
  readonly #forgetLinks: StatementSync;
  readonly #forget: StatementSync;
  readonly #deadlines: readonly Deadlines[];

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#deadlines = (["tokens", "sign_ins", "sign_in_links"] as const).map((table) => new Deadlines(database, table));
    this.#putLink = database.prepare(
      "INSERT INTO sign_in_links (hash, name, role, expires_ms, lasts_ms) VALUES (?, ?, ?, ?, ?)",
    );
    this.#link = database.prepare("SELECT 1 FROM sign_in_links WHERE hash = ?");
    this.#takeLink = database.prepare(
      "DELETE FROM sign_in_links WHERE hash = ? AND expires_ms > ? RETURNING name, role",
    );
    this.#insert = database.prepare(
      `INSERT INTO sign_ins (id, hash, name, role, agent, token, created_ms, expires_ms, lasts_ms)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#byHash = database.prepare(`SELECT * FROM sign_ins WHERE hash = ? AND ${GOOD}`);
    this.#good = database.prepare(`SELECT 1 FROM sign_ins WHERE id = ? AND ${GOOD}`);
    this.#end = database.prepare("DELETE FROM sign_ins WHERE id = ?");
    this.#forgetLinks = database.prepare("DELETE FROM sign_in_links WHERE expires_ms <= ?");
    this.#forget = database.prepare("DELETE FROM sign_ins WHERE expires_ms <= ?");
  }

  /** Creates a one-time sign-in link and returns its secret. */
  makeLink({ name, role, expiresMs }: Pick<NewSignIn, "name" | "role" | "expiresMs">): string {
    const secret = newSecret();
    const nowMs = this.#now();
    inTransaction(this.#database, () => {
      this.#forgetLinks.run(nowMs);
      this.#putLink.run(hashOf(secret), name, role, nowMs + expiresMs, expiresMs);
    });
    return secret;
  }

  /** Redeems a sign-in link, which works only once. Returns null when the link does not exist or has expired. */
  takeLink(secret: string): Pick<SignIn, "name" | "role"> | null {
    const hash = hashOf(secret);
    // The link is first looked up without the write lock, so that guesses do not block other writers.
    if (!this.#link.get(hash)) return null;
    const row = this.#takeLink.get(hash, this.#now());
    return (row as unknown as Pick<SignIn, "name" | "role"> | undefined) ?? null;
  }

  /** Creates a sign-in. The key is returned only here. */
  create({ name, role, agent, token, expiresMs }: NewSignIn): { signIn: SignIn; key: string } {
    const key = newSecret();
    const nowMs = this.#now();
    const row = { id: newId(), name, role, agent, expires_ms: nowMs + expiresMs };
    inTransaction(this.#database, () => {
      this.#forget.run(nowMs);
      this.#insert.run(row.id, hashOf(key), name, role, agent, token, nowMs, row.expires_ms, expiresMs);
    });
    return { signIn: signInOf(row), key };
  }

  /** Returns the sign-in with this key. Returns null when there is none or it is no longer valid. */
  verify(key: string): SignIn | null {
    const nowMs = this.#now();
    const row = this.#byHash.get(hashOf(key), nowMs, nowMs) as unknown as SignInRow | undefined;
    return row ? signInOf(row) : null;
  }

  /** Reports whether a sign-in is still valid. */
  isGood(id: string): boolean {
    const nowMs = this.#now();
    return this.#good.get(id, nowMs, nowMs) !== undefined;
  }

  /** Returns the time, after correcting expiry times if the clock was set back. */
  #now(): number {
    const nowMs = Date.now();
    for (const deadlines of this.#deadlines) deadlines.limit(nowMs);
    return nowMs;
  }

  /** Ends a sign-in. */
  end(id: string): void {
    this.#end.run(id);
  }
}

function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString("base64url");
}

function hashOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

function signInOf({ id, name, role, agent, expires_ms }: SignInRow): SignIn {
  return { id, name, role, agent, expiresAt: new Date(expires_ms).toISOString() };
}
