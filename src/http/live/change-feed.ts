import type { Change, ChangeList, Position } from "../../core/gateway.ts";
import type { Gateway } from "../../gateway/gateway.ts";
import { eventText } from "./event-stream.ts";

/**
 * The maximum number of characters of a text in an event. Events are sent to many clients, so longer values are
 * shortened. A client can request the complete object.
 */
const MAX_TEXT = 4096;
const MAX_ITEMS = 100;
const MAX_APPROVAL_BYTES = 64 * 1024;

/** An event, serialized once for all clients that receive it. */
export interface EventText {
  /** Who receives the event. People receive all events, an agent only its own. */
  to: "everybody" | "persons" | { agent: string };
  text: string;
}

/** Returns the events for a list of changes. The last one has the number of the latest audit entry. */
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

/** Shortens long texts and lists, and sets `shortened` if any were. */
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

/** Removes a request that is too large. It is never shortened, because a part of it could mislead (invariant 2). */
function shortenedApproval<T extends { request: unknown }>(approval: T): object {
  if (JSON.stringify(approval.request).length <= MAX_APPROVAL_BYTES) return approval;
  return { ...approval, request: null, shortened: true };
}

const WRITTEN = /^(\d{1,15})-(\d{1,15})$/;

/** Formats a position as the ID of an event. */
export function positionText({ audit, change }: Position): string {
  return `${audit}-${change}`;
}

/** Parses the ID of an event; returns null when it is malformed. */
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

/** Poll interval, and so the delay of events. A poll without changes costs two statements that read no table. */
const POLL_MS = 40;
/** Changes read per batch. Serializing a session takes about 0.1 ms. */
const BATCH_SIZE = 200;

/** Called with the changes since the last call, serialized and as data. */
type ChangeListener = (events: readonly EventText[], changes: readonly Change[]) => void;

/** The events after a position and the position they lead to; null when the position is too old. */
type CatchUp = { events: EventText[]; position: Position } | null;

/**
 * Reads the changes in a state folder once for all listeners, and does nothing without listeners. It polls the database
 * instead of using events of this gateway, which would not include changes by other gateways.
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

  /** The position up to which the listeners have received changes. */
  get position(): Position {
    if (this.#listeners.size === 0) this.#position = this.#gateway.changes.head();
    return this.#position;
  }

  /** Sets the position to the latest change. Call it before the first `listen`. */
  start(): void {
    void this.position;
  }

  /** Adds a listener for changes after `position`. Returns a function that removes it. */
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

  /**
   * Returns a batch of the changes between `from` and `position`. A caller that has caught up must call `listen`
   * synchronously, so that it misses no changes.
   */
  catchUp(from: Position): CatchUp {
    // The client may have read further with the previous instance of the service than this one has polled.
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
    // If there is more to read, pause for as long as the last batch took, so that other work gets half of the time.
    const pause = more ? performance.now() - begun : POLL_MS;
    this.#timer = setTimeout(() => this.#poll(), pause);
  }

  /** Reads one batch and notifies the listeners. Reports whether there is more to read. */
  #read(): boolean {
    const before = this.#position;
    const list = this.#gateway.changes.since(before, { limit: BATCH_SIZE });
    if (list === null) {
      this.#position = this.#gateway.changes.head();
      this.#notify([resetEvent(this.#position)], []);
      return false;
    }
    this.#position = list.position;
    this.#notify(eventTexts(list, list.position.audit > before.audit), list.changes);
    return list.more;
  }

  #notify(events: readonly EventText[], changes: readonly Change[]): void {
    if (events.length === 0) return;
    for (const listener of [...this.#listeners]) listener(events, changes);
  }
}

/** Returns the event that tells a client to reload everything, because its position is too old. */
export function resetEvent(position: Position): EventText {
  return { to: "everybody", text: eventText("reset", {}, positionText(position)) };
}
