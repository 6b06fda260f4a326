import type { Change, Position } from "../../core/changes.ts";
import type { Gateway } from "../../gateway/gateway.ts";
import { type EventText, eventTexts, isAhead, isBehind, positionText } from "./event-format.ts";
import { eventText } from "./event-stream.ts";

/** How soon what another process did is told. A look costs two statements that read no table. */
const LOOK_EVERY_MS = 40;
/** Entries read at a stretch: each session among them is described, which takes a tenth of a millisecond. */
const AT_A_STRETCH = 200;

/** Called with what happened since the last call, as events and as it is. */
export type FeedListener = (events: readonly EventText[], changes: readonly Change[]) => void;

/** What follows a position somebody had: events, and where they lead to. Null: it is too old. */
export type CatchUp = { events: EventText[]; position: Position } | null;

/**
 * What happens in the state folder, read once for all who follow. Nobody follows: nothing is done. Whoever does it writes
 * it to the database, so that is what is looked at; own events would miss other gateways.
 */
export class Feed {
  readonly #gateway: Gateway;
  readonly #onfailure: (error: Error) => void;
  readonly #listeners = new Set<FeedListener>();
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
  listen(listener: FeedListener): () => void {
    if (this.#listeners.size === 0) {
      this.#stamp = "";
      this.#timer = setTimeout(() => this.#look(), LOOK_EVERY_MS);
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
    const list = this.#gateway.changes.since(from, { limit: AT_A_STRETCH, until: this.#position });
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

  #look(): void {
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
    const pause = more ? performance.now() - begun : LOOK_EVERY_MS;
    this.#timer = setTimeout(() => this.#look(), pause);
  }

  /** True: there is more to be read. */
  #read(): boolean {
    const before = this.#position;
    const list = this.#gateway.changes.since(before, { limit: AT_A_STRETCH });
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
