import type { SessionInfo } from "../core/session.ts";
import type { Gateway } from "../gateway/gateway.ts";
import { PARTS, sessionUri } from "./resource-uri.ts";

/** Nobody is told more often than this that a log has grown. */
const POLL_MS = 1000;
const MAX_WATCHED = 1000;

type Told = (uri: string) => void;

/** Looks after the agent's living sessions for as long as somebody wants to hear of changes. */
export class ResourceWatcher {
  readonly #agent: string;
  readonly #gateway: () => Promise<Gateway>;
  readonly #listeners = new Set<Told>();
  /** What was last seen of each living session. */
  #seen: Map<string, string> | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(agent: string, gateway: () => Promise<Gateway>) {
    this.#agent = agent;
    this.#gateway = gateway;
  }

  /** Returns how to stop. */
  listen(listener: Told): () => void {
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

  /** A session that began just now may be over before the next look, and is to be told of all the same. */
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
    const living = gateway.list({ agent: this.#agent, live: true, limit: MAX_WATCHED });
    const now = new Map(living.map((info) => [info.id, fingerprint(info)]));
    const before = this.#seen;
    this.#seen = now;
    if (!before) return;
    for (const [id, look] of now) if (before.get(id) !== look) this.#tell(id);
    for (const id of before.keys()) if (!now.has(id)) this.#tell(id); // it ended, or was removed
  }

  #tell(id: string): void {
    const uris = [sessionUri(id), ...PARTS.map((part) => sessionUri(id, part))];
    for (const listener of [...this.#listeners]) for (const uri of uris) listener(uri);
  }
}

function fingerprint({ status, streams }: SessionInfo): string {
  return [status, ...Object.values(streams).map(({ bytes }) => bytes)].join(" ");
}
