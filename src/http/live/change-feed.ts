import type { Change, ChangeList, Position } from "../../core/gateway.ts";
import type { Gateway } from "../../gateway/gateway.ts";
import { eventText } from "./event-stream.ts";

/** A command may be megabytes long, and there may be hundreds who look on: those who want all of it ask for it. */
const MAX_TEXT = 4096;
const MAX_ITEMS = 100;
const MAX_APPROVAL_BYTES = 64 * 1024;

/** One event, written once for all who are to see it. */
export interface EventText {
  /** Who is to see it: persons see everything, an agent what is its own. */
  to: "everybody" | "persons" | { agent: string };
  text: string;
}

/** What changed, as events; the last one says how far the audit has come. */
function eventTexts({ changes, position }: ChangeList, auditGrew: boolean): EventText[] {
  const events: EventText[] = changes.map((change) => ({ to: { agent: change.agent }, text: changeText(change) }));
  const sequence = { sequence: position.audit };
  if (auditGrew) events.push({ to: "persons", text: eventText("audit", sequence, positionText(position)) });
  return events;
}

function changeText(change: Change): string {
  const id = positionText(change.position);
  switch (change.type) {
    case "session":
      return eventText("session", shortened(change.session), id);
    case "approval":
      return eventText("approval", shortenedApproval(change.approval), id);
    case "removed":
      return eventText("removed", { id: change.id }, id);
  }
}

/** The same with long texts and lists cut, and a word that they were. */
function shortened<T extends object>(value: T): T & { shortened?: true } {
  let isCut = false;
  const cut = (each: unknown): unknown => {
    if (typeof each === "string" && each.length > MAX_TEXT) {
      isCut = true;
      return `${each.slice(0, MAX_TEXT).toWellFormed()}…`;
    }
    if (Array.isArray(each)) {
      if (each.length > MAX_ITEMS) isCut = true;
      return each.slice(0, MAX_ITEMS).map(cut);
    }
    if (typeof each !== "object" || each === null) return each;
    return Object.fromEntries(Object.entries(each).map(([name, inner]) => [name, cut(inner)]));
  };
  const result = cut(value) as T;
  return isCut ? { ...result, shortened: true } : result;
}

/** What a person decides about is shown whole or not at all: a part of it could deceive (promise 2). */
function shortenedApproval<T extends { request: unknown }>(approval: T): object {
  if (JSON.stringify(approval.request).length <= MAX_APPROVAL_BYTES) return approval;
  return { ...approval, request: null, shortened: true };
}

const WRITTEN = /^(\d{1,15})-(\d{1,15})$/;

/** A position as the `id` of an event. */
export function positionText({ audit, change }: Position): string {
  return `${audit}-${change}`;
}

/** Null: nobody here wrote that. */
export function parsePosition(text: string): Position | null {
  const [, audit, change] = WRITTEN.exec(text) ?? [];
  return audit === undefined ? null : { audit: Number(audit), change: Number(change) };
}

function isBehind(one: Position, other: Position): boolean {
  return one.audit < other.audit || one.change < other.change;
}

function isAhead(one: Position, other: Position): boolean {
  return one.audit > other.audit || one.change > other.change;
}

/** How soon what another process did is told. A look costs two statements that read no table. */
const POLL_MS = 40;
/** Entries read at a stretch: each session among them is operationJson, which takes a tenth of a millisecond. */
const BATCH_SIZE = 200;

/** Called with what happened since the last call, as events and as it is. */
type ChangeListener = (events: readonly EventText[], changes: readonly Change[]) => void;

/** What follows a position somebody had: events, and where they lead to. Null: it is too old. */
type CatchUp = { events: EventText[]; position: Position } | null;

/**
 * What happens in the state folder, read once for all who follow. Nobody follows: nothing is done. Whoever does it writes
 * it to the database, so that is what is looked at; own events would miss other gateways.
 */
export class ChangeFeed {
  readonly #gateway: Gateway;
  readonly #onfailure: (error: Error) => void;
  readonly #listeners = new Set<ChangeListener>();
  #position: Position = { audit: 0, change: 0 };
  #stamp = "";
  #timer: NodeJS.Timeout | null = null;

  constructor(gateway: Gateway, onfailure: (error: Error) => void) {
    this.#gateway = gateway;
    this.#onfailure = onfailure;
  }

  /** Where those who listen are. */
  get position(): Position {
    if (this.#listeners.size === 0) this.#position = this.#gateway.changes.head();
    return this.#position;
  }

  /** From now on, for the first who listens. */
  start(): void {
    void this.position;
  }

  /** From `position` on. Returns how to stop. */
  listen(listener: ChangeListener): () => void {
    if (this.#listeners.size === 0) {
      this.#stamp = "";
      this.#timer = setTimeout(() => this.#poll(), POLL_MS);
    }
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0 || this.#timer === null) return;
      clearTimeout(this.#timer);
      this.#timer = null;
    };
  }

  /** A part of what is between a position and `position`; whoever is there may listen, in the same turn. */
  catchUp(from: Position): CatchUp {
    // A moment ago, in the service before this one, they may have seen more than was looked for here yet.
    if (isAhead(from, this.position)) this.#read();
    const list = this.#gateway.changes.since(from, { limit: BATCH_SIZE, until: this.#position });
    return list && { events: eventTexts(list, false), position: list.position };
  }

  isUpToDate(position: Position): boolean {
    return !isBehind(position, this.position);
  }

  close(): void {
    this.#listeners.clear();
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #poll(): void {
    const begun = performance.now();
    let more = false;
    try {
      const stamp = this.#gateway.changes.stamp();
      if (stamp !== this.#stamp) {
        more = this.#read();
        if (!more) this.#stamp = stamp;
      }
    } catch (error) {
      this.#onfailure(error as Error);
    }
    if (this.#listeners.size === 0) return;
    // However much happens, others get half of the time.
    const pause = more ? performance.now() - begun : POLL_MS;
    this.#timer = setTimeout(() => this.#poll(), pause);
  }

  /** True: there is more to be read. */
  #read(): boolean {
    const before = this.#position;
    const list = this.#gateway.changes.since(before, { limit: BATCH_SIZE });
    if (list === null) {
      this.#position = this.#gateway.changes.head();
      this.#tell([resetEvent(this.#position)], []);
      return false;
    }
    this.#position = list.position;
    this.#tell(eventTexts(list, list.position.audit > before.audit), list.changes);
    return list.more;
  }

  #tell(events: readonly EventText[], changes: readonly Change[]): void {
    if (events.length === 0) return;
    for (const listener of [...this.#listeners]) listener(events, changes);
  }
}

/** Too much has happened to tell: what is shown is to be read anew. */
export function resetEvent(position: Position): EventText {
  return { to: "everybody", text: eventText("reset", {}, positionText(position)) };
}
