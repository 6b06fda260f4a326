import { keyedAddress } from "../api/client.ts";
import { key } from "../api/key.ts";

export type Connection = "connecting" | "live" | "waiting";

export interface StreamEvents {
  onState: (state: Connection) => void;
  /** From here on nothing is missed: what is read now stays current. `sequence`: of the audit. */
  onFresh: (sequence: number) => void;
  onEvent: (name: string, data: unknown) => void;
  /** The service will not have us, or is not there. */
  onRefused: () => void;
}

/** Between the windows of one person in one browser. */
type Told =
  | { type: "who-leads" }
  | { type: "state"; state: Connection; sequence: number }
  | { type: "fresh"; sequence: number }
  | { type: "event"; name: string; data: unknown };

const NAMES = ["session", "removed", "approval", "stats", "audit", "reset"];
const RETRY_MS = 2000;

/**
 * One stream of events for all windows: a browser opens six connections to a service at most, and a stream takes one for
 * itself. One window, whoever gets the lock, holds it and tells the others; when it is closed, the next takes over.
 */
export function openSharedStream(events: StreamEvents): () => void {
  // Whoever signs in anew, perhaps as somebody else, gets a stream of their own.
  const name = `sallyport-events-${key().slice(0, 8)}`;
  const over = new AbortController();
  const channel = new BroadcastChannel(name);
  let leader: Leader | null = null;
  let loaded = false;
  const fresh = (sequence: number): void => {
    loaded = true;
    events.onFresh(sequence);
  };

  channel.onmessage = ({ data }: MessageEvent<Told>) => {
    if (data.type === "who-leads") leader?.introduce();
    else if (leader) return;
    else if (data.type === "event") events.onEvent(data.name, data.data);
    else if (data.type === "fresh") fresh(data.sequence);
    else {
      events.onState(data.state);
      if (data.state === "live" && !loaded) fresh(data.sequence);
    }
  };
  const lead = (): void => {
    leader = new Leader({ ...events, onFresh: fresh }, (told) => channel.postMessage(told));
  };
  if (navigator.locks) {
    const held = () =>
      new Promise<void>((release) => {
        over.signal.addEventListener("abort", () => release());
        lead();
      });
    navigator.locks.request(name, { signal: over.signal }, held).catch(() => undefined);
    channel.postMessage({ type: "who-leads" } satisfies Told);
  } else lead();
  return () => {
    over.abort();
    leader?.close();
    channel.close();
  };
}

class Leader {
  readonly #events: StreamEvents;
  readonly #tell: (told: Told) => void;
  #source: EventSource | null = null;
  #retry = 0;
  #state: Connection = "connecting";
  #sequence = 0;

  constructor(events: StreamEvents, tell: (told: Told) => void) {
    this.#events = events;
    this.#tell = tell;
    this.#open();
  }

  introduce(): void {
    this.#tell({ type: "state", state: this.#state, sequence: this.#sequence });
  }

  close(): void {
    window.clearTimeout(this.#retry);
    this.#source?.close();
  }

  #become(state: Connection): void {
    this.#state = state;
    this.#events.onState(state);
    this.introduce();
  }

  /** The browser resumes it by itself where it broke off, without a gap. */
  #open(): void {
    const source = new EventSource(keyedAddress("/v1/events"));
    this.#source = source;
    let isFresh = false;
    source.addEventListener("ready", (event) => {
      const { sequence = 0 } = JSON.parse((event as MessageEvent<string>).data) as { sequence?: number };
      this.#sequence = sequence;
      if (!isFresh) {
        this.#events.onFresh(sequence);
        this.#tell({ type: "fresh", sequence });
      }
      isFresh = true;
      this.#become("live");
    });
    source.addEventListener("error", () => {
      this.#become("waiting");
      // Closed for good: refused, or answered with something else. The browser does not try again by itself then.
      if (source.readyState !== EventSource.CLOSED) return;
      this.#events.onRefused();
      this.#retry = window.setTimeout(() => this.#open(), RETRY_MS);
    });
    for (const name of NAMES) {
      source.addEventListener(name, (event) => {
        const data: unknown = JSON.parse((event as MessageEvent<string>).data);
        this.#events.onEvent(name, data);
        this.#tell({ type: "event", name, data });
      });
    }
  }
}
