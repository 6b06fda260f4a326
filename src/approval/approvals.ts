import type { DatabaseSync } from "node:sqlite";
import { isDeepStrictEqual } from "node:util";
import type { Approval, ApprovalDecision, ApprovalRequest, Quorum, RecordedDecision } from "../core/approval.ts";
import type { NewAuditEntry } from "../core/audit.ts";
import { newId } from "../core/id.ts";
import { agentFilter } from "../core/names.ts";
import { approvalDenied } from "../session/refusal.ts";
import { type ApprovalQuery, type ApprovalRow, ApprovalStore } from "../storage/approvals.ts";
import { inTransaction } from "../storage/database.ts";
import { maskText } from "../text/secrets.ts";
import { shownLine } from "../text/visible.ts";
import { type Binding, changedFile, differences, fingerprint } from "./binding.ts";
import { assertDecision, assertMayDecide, assertQuorum, quorumStatus } from "./decision.ts";
import { describe, type NewApproval } from "./describe.ts";
import { ambiguousApproval, approvalNotFound, notGrantable, pendingTooLong, tooManyPending } from "./errors.ts";
import { Grants } from "./grants.ts";
import { type Ancestry, assertPerson, pidNamespace, readAncestry } from "./self-approval.ts";
import { DecisionWaiters } from "./waiters.ts";

const SUMMARY_LENGTH = 200;
/** How many characters of a long command are searched for secrets. */
const SEARCHED_LENGTH = 4096;

type AuditPart = Pick<NewAuditEntry, "actor" | "channel" | "outcome"> &
  Partial<Pick<NewAuditEntry, "session" | "detail">>;

/** Returns an audit entry about an approval, with the beginning of the command and the ID of the approval. */
function auditEntry({ id, agent, request }: Approval, entry: AuditPart): NewAuditEntry {
  const { text } = request.command;
  // Secrets are masked before the text is shortened and escaped: a partial or escaped secret is not recognized.
  const safe = maskText(text.slice(0, SEARCHED_LENGTH));
  const cut = text.length > SEARCHED_LENGTH || safe.length > SUMMARY_LENGTH;
  const summary = shownLine(safe.slice(0, SUMMARY_LENGTH)) + (cut ? "… (truncated)" : "");
  return { kind: "approval", agent, session: null, summary, ...entry, detail: { approval: id, ...entry.detail } };
}

/** Converts a database row to an `Approval`. */
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
    // Requests of earlier versions have no `unbound`.
    request: Object.assign({ unbound: [] }, JSON.parse(row.request) as ApprovalRequest),
    quorum: JSON.parse(row.quorum) as Quorum,
    decisions,
    reason: denial?.reason ?? null,
    session: row.status === "used" ? row.session : null,
  };
}

const DEFAULT_EXPIRY_MS = 30 * 60 * 1000;
/** How long after a denial or an expiry the next identical request is answered with it instead of a new request. */
const TELL_WITHIN_MS = 30 * 60 * 1000;
/** The maximum number of pending requests per agent, so that an agent cannot flood the approvers. */
const MAX_PENDING = 1000;
/** The maximum size of an agent's pending requests in bytes, so that it cannot fill the disk (invariant 6). */
const MAX_PENDING_BYTES = 64 << 20;
const LONG = MAX_PENDING_BYTES / MAX_PENDING;

export interface ApprovalsOptions {
  /** Called with every audit entry, in the same transaction. */
  audit?: (entry: NewAuditEntry) => void;
  /** How long a request stays pending, and how long an approval can be used after that. Default: 30 minutes each. */
  expiresMs?: number;
  quorum?: Quorum;
  now?: () => number;
  /** Determines what started this process. Called for each decision. */
  ancestry?: () => Ancestry;
  /** Throws unless a person uses this process. Called for each decision to approve. Default: no check. */
  attended?: () => void;
}

type ConsumeResult =
  | { ok: true }
  /** `changed` lists the differences from the approved command, or says why the approval is not usable. */
  | { ok: false; status: Approval["status"]; changed: string[] };

/** The approval requests of a state folder and their decisions. See docs/approvals.md. */
export class Approvals {
  /** The standing grants. */
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
  readonly #attended: () => void;

  constructor(database: DatabaseSync, options: ApprovalsOptions = {}) {
    this.#database = database;
    this.#store = new ApprovalStore(database);
    this.#waiters = new DecisionWaiters(database);
    this.#audit = options.audit ?? (() => {});
    this.#expiresMs = options.expiresMs ?? DEFAULT_EXPIRY_MS;
    this.#quorum = options.quorum ?? { rule: "any", approvers: [] };
    const now = options.now ?? Date.now;
    this.#now = () => this.#limited(now());
    this.#ancestry = options.ancestry ?? readAncestry;
    this.#attended = options.attended ?? (() => {});
    this.grants = new Grants(database, options);
    assertQuorum(this.#quorum);
  }

  /**
   * Requests approval. Returns the existing request when the same agent has already made the same one and it is pending
   * or approved but unused, or was denied or expired without the agent being told; check `status`.
   *
   * @internal
   */
  request(asked: NewApproval): Approval {
    const quorum = asked.quorum ?? this.#quorum;
    assertQuorum(quorum);
    const print = fingerprint(asked.binding);
    // Done before the write lock is taken: escaping a long command takes time.
    const request = JSON.stringify(describe(asked, this.#changedSinceApproved(asked)));
    return inTransaction(this.#database, () => {
      this.#expireDue();
      const nowMs = this.#now();
      const same = this.#store.open(asked.agent, print, nowMs);
      if (same) return approvalOf(same);
      const untold = this.#store.untold(asked.agent, print, nowMs - TELL_WITHIN_MS);
      if (untold) return approvalOf(untold);
      if (this.#store.waiting(asked.agent) >= MAX_PENDING) throw tooManyPending(MAX_PENDING);
      if (request.length > LONG && this.#store.waitingBytes(asked.agent) + request.length > MAX_PENDING_BYTES) {
        throw pendingTooLong(MAX_PENDING_BYTES);
      }
      const id = newId();
      this.#store.insert({
        id,
        agent: asked.agent,
        created_ms: nowMs,
        lasts_ms: asked.expiresMs ?? this.#expiresMs,
        fingerprint: print,
        request,
        binding: JSON.stringify(asked.binding),
        origin: pidNamespace(),
        quorum: JSON.stringify(quorum),
      });
      const approval = this.#get(id);
      this.#record(approval, { actor: asked.agent, channel: "gateway", outcome: "asked" });
      // Listeners run after the enclosing transaction, so they never see a request that is not stored.
      queueMicrotask(() => {
        for (const listener of [...this.#listeners]) listener(approval);
      });
      return approval;
    });
  }

  /** Returns the differences from an unused approval of the same command. They are shown to the approver. */
  #changedSinceApproved({ agent, binding }: NewApproval): string[] {
    const bindings = this.#store.approved(agent).map((row) => JSON.parse(row.binding) as Binding);
    const same = bindings.find(({ command, argv }) => command === binding.command && argv === binding.argv);
    return same ? differences(same, binding) : [];
  }

  /** Calls `listener` with each new request of this process. Returns a function that removes the listener. */
  onRequest(listener: (approval: Approval) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Calls `listener` when approvals may have changed, in any process. Returns a function that removes the listener. */
  onChange(listener: () => void): () => void {
    return this.#waiters.add(listener);
  }

  /** Returns an approval by ID or unique ID prefix. Throws `ApprovalNotFound` or `AmbiguousId`. */
  get(reference: string): Approval {
    const row = this.#find(reference);
    return isDue(row, this.#now()) ? inTransaction(this.#database, () => this.#fresh(row.id)) : approvalOf(row);
  }

  /**
   * Returns an approval as stored, without expiring it, or null when it was deleted. Writes nothing.
   *
   * @internal
   */
  stored(id: string): Approval | null {
    const row = this.#store.get(id);
    return row && approvalOf(row);
  }

  /**
   * Returns the session that waits for an approval, or null.
   *
   * @internal
   */
  waitingSession(id: string): string | null {
    return this.#store.get(id)?.session ?? null;
  }

  /**
   * Records which session waits for an approval. It ends when the request is denied or expires.
   *
   * @internal
   */
  setWaitingSession(id: string, session: string): void {
    this.#store.setWaiting(id, session);
  }

  /**
   * Records that the agent was told about a denial or an expiry, so that its next identical request is a new one.
   *
   * @internal
   */
  told({ id, status }: Approval): void {
    if (status === "denied" || status === "expired") this.#store.setTold(id);
  }

  /**
   * Expires requests and unused approvals that are due, and ends the sessions that wait for them.
   *
   * @internal
   */
  expire(): void {
    if (this.#store.due(this.#now()).length > 0) inTransaction(this.#database, () => this.#expireDue());
  }

  /** Returns approvals, newest first. */
  list(query: ApprovalQuery = {}): Approval[] {
    this.expire();
    const wanted = query.agent === undefined ? query : { ...query, agent: agentFilter(query.agent) };
    return this.#store.list(wanted).map(approvalOf);
  }

  /**
   * Records a person's decision. Throws `AlreadyDecided` when the request is no longer pending, `NotAnApprover` when
   * the person is not one of its approvers, `NotGrantable` when `always` is not possible, and `SelfApproval` when this
   * process was started by an agent's command.
   */
  decide(reference: string, decision: ApprovalDecision): Approval {
    assertDecision(decision);
    const { id } = this.get(reference);
    assertPerson(this.#ancestry(), this.#find(id).origin);
    if (decision.decision !== "deny") this.#attended();
    const decided = inTransaction(this.#database, () => {
      const approval = this.#get(id);
      assertMayDecide(approval, decision);
      return this.#accept(approval, { ...decision, at: new Date(this.#now()).toISOString() });
    });
    this.#waiters.notify();
    return decided;
  }

  /**
   * Records that a host answered a form without a person. The request stays open.
   *
   * @internal
   */
  recordHostAnswer(id: string, { client, ...detail }: { client: string; action: string; afterMs: number }): void {
    const approval = this.get(id);
    this.#record(approval, { actor: `host:${client}`, channel: "mcp-host", outcome: "answered-by-host", detail });
  }

  #accept(approval: Approval, { peer, ...decision }: RecordedDecision): Approval {
    const decisions = [...approval.decisions, decision];
    const outcome = quorumStatus(approval.quorum, decisions);
    const nowMs = this.#now();
    const approved = outcome === "approved";
    this.#store.decide({
      id: approval.id,
      status: outcome,
      decisions: JSON.stringify(decisions),
      decided_ms: outcome === "pending" ? null : nowMs,
      expires_ms: approved ? nowMs + this.#expiresMs : Date.parse(approval.expiresAt),
      lasts_ms: approved ? this.#expiresMs : (this.#store.get(approval.id)?.lasts_ms ?? 0),
    });
    const vote = decision.decision === "deny" ? "denied" : "approved";
    const { reason = null } = decision;
    const note = { decision: decision.decision, reason, status: outcome, ...(peer ? { peer } : {}) };
    this.#record(approval, { actor: decision.who, channel: decision.channel, outcome: vote, detail: note });
    if (approved) this.#grant(approval, decisions, decision);
    if (outcome === "denied") this.#endWaiting(approval.id);
    return this.#get(approval.id);
  }

  /** Ends the session that waits for a request that was denied or has expired. */
  #endWaiting(id: string): void {
    const session = this.waitingSession(id);
    if (session === null) return;
    this.#store.endWaiting(session, JSON.stringify(approvalDenied(this.#get(id)).error), this.#now());
  }

  /** Makes standing grants when every approver chose `always` with the same scope. */
  #grant({ id, agent, request }: Approval, decisions: RecordedDecision[], last: RecordedDecision): void {
    const yes = decisions.filter(({ decision }) => decision !== "deny");
    const agreed = yes.every(
      (each) => each.decision === "always" && isDeepStrictEqual(each.grant ?? {}, last.grant ?? {}),
    );
    if (!agreed || !request.always.ok) return;
    const { files } = this.#binding(id);
    // A grant for what the approver has not seen would outlast the approval, which is checked again (invariant 2).
    const changed = changedFile(files);
    if (changed !== null) throw notGrantable(`${shownLine(changed)} has changed since the command was requested`);
    for (const target of request.always.commands) {
      const program = files.find(({ role, path }) => role === "program" && path === target.executable);
      const { who, channel } = last;
      const made = { agent, target, identity: program?.identity ?? null, scope: last.grant ?? {}, who, channel };
      this.grants.make({ ...made, approval: id });
    }
  }

  /**
   * Resolves when the request is decided or expires, or with the pending request after `timeoutMs`. Rejects with the
   * reason of `signal` when that is aborted.
   */
  async wait(reference: string, options: { signal?: AbortSignal; timeoutMs?: number } = {}): Promise<Approval> {
    options.signal?.throwIfAborted();
    const first = this.get(reference);
    if (first.status !== "pending") return first;
    return this.#waiters.until(
      () => {
        // Reads two columns only: thousands of requests may be pending, each with megabytes of text.
        if (this.#store.waitsUntil(first.id, this.#now()) !== null) return null;
        const approval = this.get(first.id);
        return approval.status === "pending" ? null : approval;
      },
      { ...options, dueInMs: () => this.#expiresInMs(first.id), otherwise: () => this.get(first.id) },
    );
  }

  #expiresInMs(id: string): number {
    const nowMs = this.#now();
    return (this.#store.waitsUntil(id, nowMs) ?? nowMs) - nowMs;
  }

  /**
   * Uses an approval, in the transaction that records the launch. An approval can be used once: it stays used even if
   * the process is killed before the launch.
   *
   * @internal
   */
  consume(id: string, binding: Binding, use: { agent: string; session: string }): ConsumeResult {
    return inTransaction(this.#database, () => {
      const approval = this.#fresh(id);
      const refuse = (changed: string[]): ConsumeResult => {
        const note = { outcome: "refused", session: use.session, detail: { changed } };
        this.#record(approval, { actor: use.agent, channel: "gateway", ...note });
        return { ok: false, status: approval.status, changed };
      };
      if (approval.agent !== use.agent) return refuse(["the approval belongs to another agent"]);
      if (approval.status !== "approved") return refuse([notUsable(approval)]);
      const changed = differences(this.#binding(id), binding);
      if (changed.length > 0) return refuse(changed);
      if (!this.#store.use(id, use.session)) return refuse(["the approval was already used"]);
      this.#record(approval, { actor: use.agent, channel: "gateway", outcome: "used", session: use.session });
      return { ok: true };
    });
  }

  /**
   * Deletes denied, used and expired requests older than `beforeMs`. Their audit entries are kept.
   *
   * @internal
   */
  forget(beforeMs: number): number {
    return this.#store.deleteSettled(beforeMs);
  }

  /** Returns the time, after correcting the expiry of requests if the clock was set back. */
  #limited(nowMs: number): number {
    this.#store.limitExpiry(nowMs);
    return nowMs;
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

  /** Returns an approval after expiring those that are due. Must be called within a transaction. */
  #fresh(id: string): Approval {
    this.#expireDue();
    const row = this.#store.get(id);
    // `expireDue` processes a limited number of rows, which may not include this one.
    if (row && isDue(row, this.#now())) this.#expire(row);
    return this.#get(id);
  }

  #expireDue(): void {
    for (const row of this.#store.due(this.#now())) this.#expire(row);
  }

  #expire(row: ApprovalRow): void {
    if (!this.#store.expire(row.id, row.status)) return;
    this.#endWaiting(row.id);
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
  if (status === "used") return `the approval was already used for session ${session}`;
  if (status === "expired") return `the approval expired at ${expiresAt}`;
  return status === "denied" ? "the request was denied" : "the request is still pending";
}
