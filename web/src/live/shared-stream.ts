import { readEvents } from "../api/events.ts";
import { key } from "../api/key.ts";

export type Connection = "connecting" | "live" | "waiting";

export interface StreamEvents {
  onState: (state: Connection) => void;
  /**
   * Called when a new stream has started. Data loaded after this call is kept current by the events of the stream.
   * `sequence` is the number of the latest audit entry.
   */
  onFresh: (sequence: number) => void;
  onEvent: (name: string, data: unknown) => void;
  /** Called when the service rejected the stream or cannot be reached. */
  onRefused: () => void;
}

/** A message between the tabs of one sign-in. */
type TabMessage =
  | { type: "who-leads" }
  | { type: "state"; state: Connection; sequence: number }
  | { type: "fresh"; sequence: number }
  | { type: "event"; name: string; data: unknown };

const NAMES = ["session", "removed", "approval", "stats", "audit", "reset"];

/**
 * Opens one event stream for all tabs of the browser, because a browser allows only six connections to a host. The tab
 * that holds the lock reads the stream and broadcasts its events. When that tab closes, another one takes over.
 */
export function openSharedStream(events: StreamEvents): () => void {
  // Named after the key: a new sign-in, possibly with another role, must not share the stream of the old one.
  const name = `sallyport-events-${key().slice(0, 8)}`;
  const over = new AbortController();
  const channel = new BroadcastChannel(name);
  let leader: Leader | null = null;
  let loaded = false;
  const fresh = (sequence: number): void => {
    loaded = true;
    events.onFresh(sequence);
  };

  channel.onmessage = ({ data }: MessageEvent<TabMessage>) => {
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
    leader = new Leader({ ...events, onFresh: fresh }, (message) => channel.postMessage(message));
  };
  if (navigator.locks) {
    const held = () =>
      new Promise<void>((release) => {
        over.signal.addEventListener("abort", () => release());
        lead();
      });
    navigator.locks.request(name, { signal: over.signal }, held).catch(() => undefined);
    channel.postMessage({ type: "who-leads" } satisfies TabMessage);
  } else lead();
  return () => {
    over.abort();
    leader?.close();
    channel.close();
  };
}

class Leader {
  readonly #events: StreamEvents;
  readonly #tell: (message: TabMessage) => void;
  readonly #stop: () => void;
  #state: Connection = "connecting";
  #sequence = 0;

  constructor(events: StreamEvents, tell: (message: TabMessage) => void) {
    this.#events = events;
    this.#tell = tell;
    this.#stop = this.#open();
  }

  introduce(): void {
    this.#tell({ type: "state", state: this.#state, sequence: this.#sequence });
  }

  close(): void {
    this.#stop();
  }

  #become(state: Connection): void {
    this.#state = state;
    this.#events.onState(state);
    this.introduce();
  }

  /** Opens the stream. It is resumed after a lost connection without a gap, and starts from the beginning after a refusal. */
  #open(): () => void {
    let isFresh = false;
    return readEvents(
      "/v1/events",
      {},
      {
        onEvent: (name, data) => {
          if (name === "ready") {
            this.#ready((data as { sequence?: number }).sequence ?? 0, isFresh);
            isFresh = true;
          } else if (NAMES.includes(name)) {
            this.#events.onEvent(name, data);
            this.#tell({ type: "event", name, data });
          }
        },
        onLost: (refused) => {
          this.#become("waiting");
          if (!refused) return;
          isFresh = false;
          this.#events.onRefused();
        },
      },
    );
  }

  #ready(sequence: number, isResumed: boolean): void {
    this.#sequence = sequence;
    if (!isResumed) {
      this.#events.onFresh(sequence);
      this.#tell({ type: "fresh", sequence });
    }
    this.#become("live");
  }
}
