import type { SessionInfo } from "../core/session.ts";
import type { Gateway } from "../gateway/gateway.ts";
import { PARTS, sessionUri } from "./resource-uri.ts";

/** The poll interval, which is also the minimum interval between notifications about one resource. */
const POLL_MS = 1000;
const MAX_WATCHED = 1000;

type Listener = (uri: string) => void;

/** Watches the agent's running sessions for changes while there are listeners. */
export class ResourceWatcher {
  readonly #agent: string;
  readonly #gateway: () => Promise<Gateway>;
  readonly #listeners = new Set<Listener>();
  /** Fingerprint of each running session at the last poll. */
  #seen: Map<string, string> | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(agent: string, gateway: () => Promise<Gateway>) {
    this.#agent = agent;
    this.#gateway = gateway;
  }

  /** Adds a listener. Returns a function that removes it. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    if (!this.#timer) {
      this.#timer = setInterval(() => void this.#poll().catch(() => {}), POLL_MS).unref();
      void this.#poll().catch(() => {});
    }
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.close();
    };
  }

  /** Registers a new session, which may end before the next poll and must still be reported. */
  sessionStarted(id: string): void {
    this.#seen?.set(id, "");
  }

  close(): void {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
    this.#seen = null;
  }

  async #poll(): Promise<void> {
    const gateway = await this.#gateway();
    const running = gateway.list({ agent: this.#agent, live: true, limit: MAX_WATCHED });
    const now = new Map(running.map((info) => [info.id, fingerprint(info)]));
    const before = this.#seen;
    this.#seen = now;
    if (!before) return;
    for (const [id, current] of now) if (before.get(id) !== current) this.#notify(id);
    for (const id of before.keys()) if (!now.has(id)) this.#notify(id); // ended or removed
  }

  #notify(id: string): void {
    const uris = [sessionUri(id), ...PARTS.map((part) => sessionUri(id, part))];
    for (const listener of [...this.#listeners]) for (const uri of uris) listener(uri);
  }
}

function fingerprint({ status, streams }: SessionInfo): string {
  return [status, ...Object.values(streams).map(({ bytes }) => bytes)].join(" ");
}
