import type { DatabaseSync } from "node:sqlite";
import { isDeepStrictEqual } from "node:util";
import type { Approval, ApprovalDecision, ApprovalRequest, Quorum, RecordedDecision } from "../core/approval.ts";
import type { NewAuditEntry } from "../core/audit.ts";
import { newId } from "../core/id.ts";
import { type ApprovalQuery, type ApprovalRow, ApprovalStore } from "../storage/approvals.ts";
import { inTransaction } from "../storage/database.ts";
import { maskText } from "../text/secrets.ts";
import { shownLine } from "../text/visible.ts";
import { type Binding, differences, fingerprint } from "./binding.ts";
import { assertDecision, assertMayDecide, assertQuorum, quorumStatus } from "./decision.ts";
import { describe, type NewApproval } from "./describe.ts";
import { ambiguousApproval, approvalNotFound, pendingTooLong, tooManyPending } from "./errors.ts";
import { Grants } from "./grants.ts";
import { type Ancestry, assertPerson, pidNamespace, readAncestry } from "./self-approval.ts";
import { DecisionWaiters } from "./waiters.ts";

const SUMMARY_LENGTH = 200;
/** Of a long command, so much is looked at for secrets. */
const LOOK_LENGTH = 4096;

type AuditPart = Pick<NewAuditEntry, "actor" | "channel" | "outcome"> &
  Partial<Pick<NewAuditEntry, "session" | "detail">>;

/** What the audit is told about an approval: the beginning of the command, and the id to find the rest by. */
function auditEntry({ id, agent, request }: Approval, entry: AuditPart): NewAuditEntry {
  const { text } = request.command;
  // Masked while its lines are lines and nothing is cut: half a secret, or one behind a mark, is not known as one.
  const safe = maskText(text.slice(0, LOOK_LENGTH));
  const cut = text.length > LOOK_LENGTH || safe.length > SUMMARY_LENGTH;
  const summary = shownLine(safe.slice(0, SUMMARY_LENGTH)) + (cut ? "… (cut)" : "");
  return { kind: "approval", agent, session: null, summary, ...entry, detail: { approval: id, ...entry.detail } };
}

/** A row as callers see it. */
function approvalOf(row: ApprovalRow): Approval {
  const decisions = JSON.parse(row.decisions) as RecordedDecision[];
  const denial = row.status === "denied" ? decisions.findLast(({ decision }) => decision === "deny") : undefined;
  return {
    id: row.id,
    agent: row.agent,
    status: row.status,
    createdAt: new Date(row.created_ms).toISOString(),
    expiresAt: new Date(row.expires_ms).toISOString(),
    decidedAt: row.decided_ms === null ? null : new Date(row.decided_ms).toISOString(),
    request: JSON.parse(row.request) as ApprovalRequest,
    quorum: JSON.parse(row.quorum) as Quorum,
    decisions,
    reason: denial?.reason ?? null,
    session: row.session,
  };
}

const DEFAULT_EXPIRY_MS = 30 * 60 * 1000;
/** Of one agent: it must not bury a person, or one request among others. */
const MOST_WAITING = 1000;
/** Of one agent, those that are long together: nor must it fill the disk (promise 6). */
const MOST_WAITING_BYTES = 64 << 20;
const LONG = MOST_WAITING_BYTES / MOST_WAITING;

export interface ApprovalsOptions {
  /** Told of everything, in the same transaction. */
  audit?: (entry: NewAuditEntry) => void;
  /** How long a request waits, and then how long an approval can be used. Default 30 minutes each. */
  expiresMs?: number;
  quorum?: Quorum;
  now?: () => number;
  /** Who started this process; looked up anew for each decision. */
  ancestry?: () => Ancestry;
}

type ConsumeResult =
  | { ok: true }
  /** Why it cannot be used; `changed` says what differs, or that it is not (or no longer) approved. */
  | { ok: false; status: Approval["status"]; changed: string[] };

/** Requests to a person, their answers, and the one use of each. Several gateways share them through the database. */
export class Approvals {
  readonly grants: Grants;
  readonly #database: DatabaseSync;
  readonly #store: ApprovalStore;
  readonly #waiters: DecisionWaiters;
  readonly #listeners = new Set<(approval: Approval) => void>();
  readonly #audit: (entry: NewAuditEntry) => void;
  readonly #expiresMs: number;
  readonly #quorum: Quorum;
  readonly #now: () => number;
  readonly #ancestry: () => Ancestry;

  constructor(database: DatabaseSync, options: ApprovalsOptions = {}) {
    this.#database = database;
    this.#store = new ApprovalStore(database);
    this.#waiters = new DecisionWaiters(database);
    this.#audit = options.audit ?? (() => {});
    this.#expiresMs = options.expiresMs ?? DEFAULT_EXPIRY_MS;
    this.#quorum = options.quorum ?? { rule: "any", approvers: [] };
    this.#now = options.now ?? Date.now;
    this.#ancestry = options.ancestry ?? readAncestry;
    this.grants = new Grants(database, options);
    assertQuorum(this.#quorum);
  }

  /**
   * Asks a person. The same thing asked again by the same agent, while it waits or before its approval was used, is the
   * same request: nobody is asked twice about one thing. Look at the `status` of what comes back.
   */
  request(asked: NewApproval): Approval {
    const quorum = asked.quorum ?? this.#quorum;
    assertQuorum(quorum);
    const print = fingerprint(asked.binding);
    // Before the write lock: a long command takes a moment to be made visible.
    const request = JSON.stringify(describe(asked, this.#changedSinceApproved(asked)));
    return inTransaction(this.#database, () => {
      this.#expireDue();
      const nowMs = this.#now();
      const same = this.#store.open(asked.agent, print, nowMs);
      if (same) return approvalOf(same);
      if (this.#store.waiting(asked.agent) >= MOST_WAITING) throw tooManyPending(MOST_WAITING);
      if (request.length > LONG && this.#store.waitingBytes(asked.agent) + request.length > MOST_WAITING_BYTES) {
        throw pendingTooLong(MOST_WAITING_BYTES);
      }
      const id = newId();
      this.#store.insert({
        id,
        agent: asked.agent,
        created_ms: nowMs,
        expires_ms: nowMs + (asked.expiresMs ?? this.#expiresMs),
        fingerprint: print,
        request,
        binding: JSON.stringify(asked.binding),
        origin: pidNamespace(),
        quorum: JSON.stringify(quorum),
      });
      const approval = this.#get(id);
      this.#record(approval, { actor: asked.agent, channel: "gateway", outcome: "asked" });
      // After the transaction this may be part of: nobody is told of a request that is not stored.
      queueMicrotask(() => {
        for (const listener of [...this.#listeners]) listener(approval);
      });
      return approval;
    });
  }

  /** The differences from an earlier approval of the same command that was not used; shown to the person. */
  #changedSinceApproved({ agent, binding }: NewApproval): string[] {
    const bindings = this.#store.approved(agent).map((row) => JSON.parse(row.binding) as Binding);
    const same = bindings.find(({ command, argv }) => command === binding.command && argv === binding.argv);
    return same ? differences(same, binding) : [];
  }

  /** Called with each new request of this process. Returns how to stop. */
  onRequest(listener: (approval: Approval) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Called when something may have changed, here or in another process. Returns how to stop. */
  onChange(listener: () => void): () => void {
    return this.#waiters.add(listener);
  }

  /** By id or a prefix of it that no other has. */
  get(reference: string): Approval {
    const row = this.#find(reference);
    return isDue(row, this.#now()) ? inTransaction(this.#database, () => this.#fresh(row.id)) : approvalOf(row);
  }

  /** As it is stored, whether or not its time has run out; null: it was forgotten. Writes nothing. */
  stored(id: string): Approval | null {
    const row = this.#store.get(id);
    return row && approvalOf(row);
  }

  list(query: ApprovalQuery = {}): Approval[] {
    if (this.#store.due(this.#now()).length > 0) inTransaction(this.#database, () => this.#expireDue());
    return this.#store.list(query).map(approvalOf);
  }

  /** One person's word. Throws when it does not count: decided before, not theirs to decide, or no person at all. */
  decide(reference: string, decision: ApprovalDecision): Approval {
    assertDecision(decision);
    const { id } = this.get(reference);
    assertPerson(this.#ancestry(), this.#find(id).origin);
    const decided = inTransaction(this.#database, () => {
      const approval = this.#get(id);
      assertMayDecide(approval, decision);
      return this.#accept(approval, { ...decision, at: new Date(this.#now()).toISOString() });
    });
    this.#waiters.notify();
    return decided;
  }

  #accept(approval: Approval, decision: RecordedDecision): Approval {
    const decisions = [...approval.decisions, decision];
    const outcome = quorumStatus(approval.quorum, decisions);
    const nowMs = this.#now();
    this.#store.decide({
      id: approval.id,
      status: outcome,
      decisions: JSON.stringify(decisions),
      decided_ms: outcome === "pending" ? null : nowMs,
      expires_ms: outcome === "approved" ? nowMs + this.#expiresMs : Date.parse(approval.expiresAt),
    });
    const word = decision.decision === "deny" ? "denied" : "approved";
    const note = { decision: decision.decision, reason: decision.reason ?? null, status: outcome };
    this.#record(approval, { actor: decision.who, channel: decision.channel, outcome: word, detail: note });
    if (outcome === "approved") this.#grant(approval, decisions, decision);
    return this.#get(approval.id);
  }

  /** For good only when everybody who said yes said so, and meant the same. */
  #grant({ id, agent, request }: Approval, decisions: RecordedDecision[], last: RecordedDecision): void {
    const yes = decisions.filter(({ decision }) => decision !== "deny");
    const agreed = yes.every(
      (each) => each.decision === "always" && isDeepStrictEqual(each.grant ?? {}, last.grant ?? {}),
    );
    if (!agreed || !request.always.ok) return;
    const { files } = this.#binding(id);
    for (const target of request.always.commands) {
      const program = files.find(({ role, path }) => role === "program" && path === target.executable);
      const { who, channel } = last;
      const made = { agent, target, identity: program?.identity ?? null, scope: last.grant ?? {}, who, channel };
      this.grants.make({ ...made, approval: id });
    }
  }

  /** Resolves when it is decided or has expired; with the pending one after `timeoutMs`. */
  async wait(reference: string, options: { signal?: AbortSignal; timeoutMs?: number } = {}): Promise<Approval> {
    options.signal?.throwIfAborted();
    const first = this.get(reference);
    if (first.status !== "pending") return first;
    return this.#waiters.until(
      () => {
        // A look at two columns: thousands may wait, each with megabytes to show.
        if (this.#store.isWaiting(first.id, this.#now())) return null;
        const approval = this.get(first.id);
        return approval.status === "pending" ? null : approval;
      },
      { ...options, dueInMs: () => Date.parse(first.expiresAt) - this.#now(), otherwise: () => this.get(first.id) },
    );
  }

  /**
   * Uses an approval up, right before launch and in the transaction that records the launch. Once, whoever tries and
   * whatever dies in between: what was used stays used even if the launch never came.
   */
  consume(id: string, binding: Binding, use: { agent: string; session: string }): ConsumeResult {
    return inTransaction(this.#database, () => {
      const approval = this.#fresh(id);
      const refuse = (changed: string[]): ConsumeResult => {
        const note = { outcome: "refused", session: use.session, detail: { changed } };
        this.#record(approval, { actor: use.agent, channel: "gateway", ...note });
        return { ok: false, status: approval.status, changed };
      };
      if (approval.agent !== use.agent) return refuse(["it was approved for another agent"]);
      if (approval.status !== "approved") return refuse([notUsable(approval)]);
      const changed = differences(this.#binding(id), binding);
      if (changed.length > 0) return refuse(changed);
      if (!this.#store.use(id, use.session)) return refuse(["it was used already"]);
      this.#record(approval, { actor: use.agent, channel: "gateway", outcome: "used", session: use.session });
      return { ok: true };
    });
  }

  /** Forgets what was decided, used or expired and is older than this. The audit keeps what it was told. */
  forget(beforeMs: number): number {
    return this.#store.deleteSettled(beforeMs);
  }

  #find(reference: string): ApprovalRow {
    const exact = this.#store.get(reference);
    if (exact) return exact;
    const matches = /^[0-9a-f-]+$/.test(reference) ? this.#store.withPrefix(reference) : [];
    if (matches.length > 1) throw ambiguousApproval(reference);
    if (!matches[0]) throw approvalNotFound(reference);
    return matches[0];
  }

  #get(id: string): Approval {
    const row = this.#store.get(id);
    if (!row) throw approvalNotFound(id);
    return approvalOf(row);
  }

  #binding(id: string): Binding {
    return JSON.parse(this.#store.get(id)?.binding ?? "null") as Binding;
  }

  /** As it is by now: its time may have run out while nobody looked. Within a transaction. */
  #fresh(id: string): Approval {
    this.#expireDue();
    const row = this.#store.get(id);
    // So many may be due that it was not its turn yet.
    if (row && isDue(row, this.#now())) this.#expire(row);
    return this.#get(id);
  }

  #expireDue(): void {
    for (const row of this.#store.due(this.#now())) this.#expire(row);
  }

  #expire(row: ApprovalRow): void {
    if (!this.#store.expire(row.id, row.status)) return;
    const detail = { was: row.status };
    this.#record(approvalOf(row), { actor: "sallyport", channel: "gateway", outcome: "expired", detail });
  }

  #record(approval: Approval, entry: AuditPart): void {
    this.#audit(auditEntry(approval, entry));
  }
}

function isDue(row: ApprovalRow, nowMs: number): boolean {
  return (row.status === "pending" || row.status === "approved") && row.expires_ms <= nowMs;
}

function notUsable({ status, session, expiresAt }: Approval): string {
  if (status === "used") return `it was used already, for session ${session}`;
  if (status === "expired") return `it expired at ${expiresAt}`;
  return status === "denied" ? "it was denied" : "it is not decided yet";
}
