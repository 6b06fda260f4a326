import { createHash } from "node:crypto";
import { realpathSync, statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import type { Grant, GrantScope, GrantTarget } from "../core/approval.ts";
import type { NewAuditEntry } from "../core/audit.ts";
import { newId } from "../core/id.ts";
import { agentFilter } from "../core/names.ts";
import { inTransaction } from "../storage/database.ts";
import { type GrantRow, GrantStore } from "../storage/grants.ts";
import { matchesGlob, matchesGlobs } from "../text/glob.ts";
import { maskArgs } from "../text/secrets.ts";
import { shownLine } from "../text/visible.ts";
import { filesOfGrant } from "./bound-files.ts";
import { ambiguousApproval, grantNotFound, notGrantable } from "./errors.ts";
import { type FileIdentity, identify, ReadingBudget, statIdentity } from "./file-identity.ts";
import { type CommandFacts, type GrantContext, grantable } from "./grantable.ts";

/** Wildcards do not match longer arguments, which bounds the time of a match. */
const MAX_ARGUMENT_LENGTH = 4096;

/**
 * Reports whether the patterns of a grant cover the arguments. There is one pattern per argument: `*` matches any text
 * without `/`, `?` one such character, `**` any text or, as the last pattern, any number of operands.
 */
function matchesArguments(patterns: readonly string[], args: readonly string[]): boolean {
  return matchesGlobs(patterns, args, matchesArgument);
}

/**
 * Reports whether a pattern matches an argument. Wildcards do not match text that changes the meaning of a command: an
 * option where an operand was granted, or a path with `..`.
 */
function matchesArgument(pattern: string, value: string): boolean {
  if (!/[*?]/.test(pattern)) return pattern === value;
  if (value.length > MAX_ARGUMENT_LENGTH || pattern.length > MAX_ARGUMENT_LENGTH) return false;
  if (value.startsWith("-") && !pattern.startsWith("-")) return false;
  if (/(?:^|[/=])\.\.(?:\/|$)/.test(value)) return false;
  return matchesGlob(pattern, value, { segments: true });
}

interface GrantsOptions {
  audit?: (entry: NewAuditEntry) => void;
  now?: () => number;
}

interface NewGrant {
  agent: string;
  target: GrantTarget;
  /** The identity of the program when approval was requested. */
  identity: FileIdentity | null;
  scope: GrantScope;
  who: string;
  channel: string;
  approval: string | null;
}

interface LoadedGrant {
  row: GrantRow;
  args: Grant["args"];
}

/** The version of grants that have not been loaded. */
const UNKNOWN = -1;

/** The standing grants of a state folder. */
export class Grants {
  readonly #database: DatabaseSync;
  readonly #store: GrantStore;
  readonly #audit: (entry: NewAuditEntry) => void;
  readonly #now: () => number;
  /** A cache by program, read from the database again after a change. */
  #loaded = new Map<string, LoadedGrant[]>();
  #version = UNKNOWN;

  constructor(database: DatabaseSync, options: GrantsOptions = {}) {
    this.#database = database;
    this.#store = new GrantStore(database);
    this.#audit = options.audit ?? (() => {});
    const now = options.now ?? Date.now;
    this.#now = () => this.#limited(now());
  }

  /**
   * Returns the grants that together cover every command, or null. Writes nothing.
   *
   * @internal
   */
  match(facts: CommandFacts, context: GrantContext & { agent: string }): Grant[] | null {
    this.#refresh();
    // Fast path: most programs have no grant.
    if (!facts.commands.some(({ executable }) => executable.resolved && this.#loaded.has(executable.resolved)))
      return null;
    const wanted = grantable(facts, context);
    if (!wanted.ok) return null;
    const found: Grant[] = [];
    for (const target of wanted.commands) {
      const loaded = this.#find(target, context.agent);
      if (!loaded) return null;
      found.push(grantOf(loaded.row));
    }
    return found;
  }

  #find(target: GrantTarget, agent: string): LoadedGrant | undefined {
    const candidates = (this.#loaded.get(target.executable) ?? []).filter(({ row, args }) => {
      const live = row.expires_ms === null || row.expires_ms > this.#now();
      return live && row.agent === agent && (row.piped === 1 || !target.piped) && covers(args, target.args);
    });
    if (candidates.length === 0) return undefined;
    const cwd = realFolder(target.cwd);
    return candidates.find(({ row, args }) => row.cwd === cwd && row.identity === identityNow({ ...row, args }));
  }

  /** Returns the time, after correcting the expiry of grants if the clock was set back. */
  #limited(nowMs: number): number {
    if (this.#store.limitExpiry(nowMs)) this.#version = UNKNOWN;
    return nowMs;
  }

  #refresh(): void {
    this.#now();
    const version = this.#store.version();
    if (version === this.#version) return;
    this.#loaded = Map.groupBy(
      this.#store.live().map((row) => ({ row, args: JSON.parse(row.args) as Grant["args"] })),
      ({ row }) => row.executable,
    );
    this.#version = version;
  }

  /**
   * Stores a grant for a decision of `always`. The caller has verified that a person made the decision.
   *
   * @internal
   */
  make({ agent, target, identity, scope, who, channel, approval }: NewGrant): Grant {
    const patterns = scope.args === undefined || scope.args === "exact" ? null : scope.args;
    if (patterns && !matchesArguments(patterns, target.args)) {
      throw notGrantable(`the pattern ${shownLine(patterns.join(" "))} does not match the requested arguments`);
    }
    const args: Grant["args"] = patterns ? { kind: "pattern", patterns } : { kind: "exact", values: target.args };
    const nowMs = this.#now();
    const row = {
      id: newId(),
      agent,
      executable: target.executable,
      identity: identityNow({ executable: target.executable, args, cwd: target.cwd }, identity),
      args: JSON.stringify(args),
      cwd: target.cwd,
      piped: target.piped ? 1 : 0,
      approval,
      created_ms: nowMs,
      created_by: who,
      lasts_ms: scope.expiresMs ?? null,
    };
    return inTransaction(this.#database, () => {
      this.#store.insert(row);
      const grant = this.get(row.id);
      this.#record(grant, who, channel, "granted");
      return grant;
    });
  }

  /**
   * Revokes a grant by ID or unique ID prefix. `by` names the person and the surface for the audit log. Throws
   * `GrantNotFound` when there is no such grant or it was revoked before, or `AmbiguousId`.
   */
  revoke(reference: string, by: { who: string; channel: string }): Grant {
    return inTransaction(this.#database, () => {
      const { id } = this.#row(reference);
      if (!this.#store.revoke(id, this.#now())) throw grantNotFound(reference);
      const grant = this.get(id);
      this.#record(grant, by.who, by.channel, "revoked");
      return grant;
    });
  }

  /**
   * Records the use of grants, in the transaction that records the launch.
   *
   * @internal
   */
  used(ids: readonly string[]): void {
    for (const id of ids) this.#store.used(id, this.#now());
  }

  /** Returns grants, newest first. With `all`, includes revoked and expired grants. */
  list({ agent, all = false }: { agent?: string | undefined; all?: boolean } = {}): Grant[] {
    const live = (row: GrantRow) =>
      row.revoked_ms === null && (row.expires_ms === null || row.expires_ms > this.#now());
    const rows = this.#store
      .all()
      .filter((row) => (all || live(row)) && (agent === undefined || row.agent === agentFilter(agent)));
    return rows.map(grantOf);
  }

  /** Returns a grant by ID or unique ID prefix. Throws `GrantNotFound` or `AmbiguousId`. */
  get(reference: string): Grant {
    return grantOf(this.#row(reference));
  }

  #row(reference: string): GrantRow {
    const exact = this.#store.get(reference);
    if (exact) return exact;
    const matches = /^[0-9a-f-]+$/.test(reference) ? this.#store.withPrefix(reference) : [];
    if (matches.length > 1) throw ambiguousApproval(reference);
    if (!matches[0]) throw grantNotFound(reference);
    return matches[0];
  }

  #record(grant: Grant, actor: string, channel: string, outcome: string): void {
    const { id, agent, executable, args, cwd, expiresAt, approval } = grant;
    const words = args.kind === "exact" ? args.values : args.patterns;
    // Masking depends on the program: the same option can be a password for one and harmless for another.
    const shown = maskArgs([executable, ...words]);
    const summary = `${outcome} ${shownLine(shown.join(" "))} in ${shownLine(cwd)}`;
    const detail = {
      grant: id,
      executable,
      args: { kind: args.kind, words: shown.slice(1) },
      cwd,
      expiresAt,
      approval,
    };
    this.#audit({ kind: "grant", agent, session: null, actor, channel, outcome, summary, detail });
  }
}

/** Reports whether a grant for one command would also cover another one. */
export function wouldCover(granted: GrantTarget, { args }: GrantScope, wanted: GrantTarget): boolean {
  const words: Grant["args"] =
    args === undefined || args === "exact"
      ? { kind: "exact", values: granted.args }
      : { kind: "pattern", patterns: args };
  const fits = granted.executable === wanted.executable && (granted.piped || !wanted.piped);
  return fits && realFolder(wanted.cwd) === granted.cwd && covers(words, wanted.args);
}

function covers(args: Grant["args"], given: readonly string[]): boolean {
  if (args.kind === "pattern") return matchesArguments(args.patterns, given);
  return args.values.length === given.length && args.values.every((value, index) => value === given[index]);
}

/** Returns a file identity as text, without the device number, which can change with a reboot. */
function identityText({ ino, size, mtimeNs, ctimeNs, mode }: Omit<FileIdentity, "sha256" | "shebang">): string {
  return [ino, size, mtimeNs, ctimeNs, mode].join(" ");
}

/**
 * Returns the identity of a granted program, and of the files that it reads as configuration or code, such as the hooks
 * of a repository. If one of them changes, the grant no longer applies (invariant 2).
 */
function identityNow(
  { executable, args, cwd }: Pick<Grant, "executable" | "args" | "cwd">,
  known?: FileIdentity | null,
) {
  const status = known ? null : statSync(executable, { bigint: true, throwIfNoEntry: false });
  const program = known ? identityText(known) : status ? identityText(statIdentity(status)) : "gone";
  const files = filesOfGrant(executable, args.kind === "exact" ? args.values : [], cwd);
  if (files.length === 0) return program;
  const budget = new ReadingBudget();
  const contents = files.map((path) => {
    const identity = identify(path, budget);
    return [path, identity?.mode, identity?.sha256 ?? (identity && identityText(identity))];
  });
  return `${program} files ${createHash("sha256").update(JSON.stringify(contents)).digest("hex")}`;
}

function realFolder(path: string): string | null {
  try {
    return realpathSync.native(path);
  } catch {
    return null;
  }
}

function grantOf(row: GrantRow): Grant {
  const args = JSON.parse(row.args) as Grant["args"];
  const time = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());
  return {
    id: row.id,
    agent: row.agent,
    executable: row.executable,
    args,
    cwd: row.cwd,
    piped: row.piped === 1,
    createdAt: new Date(row.created_ms).toISOString(),
    createdBy: row.created_by,
    expiresAt: time(row.expires_ms),
    lastUsedAt: time(row.last_used_ms),
    revokedAt: time(row.revoked_ms),
    approval: row.approval,
    current: row.identity === identityNow({ ...row, args }),
  };
}
