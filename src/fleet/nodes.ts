import type { JetStreamManager } from "@nats-io/jetstream";
import type { KV } from "@nats-io/kv";
import { NoRespondersError, RequestError, TimeoutError } from "@nats-io/transport-node";
import { SallyportError } from "../core/error.ts";
import type { FleetConnection } from "./connection.ts";
import { nodeNotFound, nodeUnresponsive } from "./errors.ts";
import { validateName } from "./subjects.ts";
import { WorkerInfo } from "./wire.ts";

const POLL_MS = 2000;
/** Receives the heartbeat of a worker, or null when it has expired. */
type HostListener = (worker: WorkerInfo | null) => void;

/** Reads the heartbeats of workers and watches those that have sessions of this gateway. */
export class HostMonitor {
  readonly #bucket: KV;
  readonly #connection: FleetConnection;
  #manager: Promise<JetStreamManager> | null = null;
  readonly #listeners = new Map<string, Set<HostListener>>();
  #timer: NodeJS.Timeout | null = null;

  constructor(connection: FleetConnection) {
    this.#connection = connection;
    this.#bucket = connection.workers;
  }

  /** Calls the listener on each poll. Returns a function that removes it. */
  watch(host: string, listener: HostListener): () => void {
    let listeners = this.#listeners.get(host);
    if (!listeners) {
      listeners = new Set();
      this.#listeners.set(host, listeners);
    }
    listeners.add(listener);
    this.#timer ??= setInterval(() => void this.#poll(), POLL_MS).unref();
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(host) === listeners) this.#listeners.delete(host);
    };
  }

  /** Returns the heartbeat of a worker, or null when there is none. Throws when the servers do not respond. */
  async get(host: string): Promise<WorkerInfo | null> {
    const found = await this.#bucket.get(host);
    return found?.operation === "PUT" ? WorkerInfo.parse(found.json()) : null;
  }

  /** Returns all live workers, sorted by name. */
  async list(): Promise<WorkerInfo[]> {
    const found: WorkerInfo[] = [];
    for (const host of await this.names()) {
      const entry = await this.#bucket.get(host);
      const worker = entry?.operation === "PUT" ? WorkerInfo.safeParse(entry.json()) : null;
      if (worker?.success) found.push(worker.data);
    }
    return found;
  }

  /**
   * Returns the names of all live workers, sorted. They come from a single response of the server, because iterating
   * over the bucket would miss workers that renew their entry in the meantime.
   */
  async names(): Promise<string[]> {
    const { js, stores } = this.#connection;
    this.#manager ??= js.jetstreamManager(false);
    const head = `$KV.${stores.workers}.`;
    const { state } = await (await this.#manager).streams.info(`KV_${stores.workers}`, { subjects_filter: `${head}*` });
    return Object.keys(state.subjects ?? {})
      .map((subject) => subject.slice(head.length))
      .sort();
  }

  close(): void {
    if (this.#timer) clearInterval(this.#timer);
    this.#listeners.clear();
  }

  async #poll(): Promise<void> {
    await Promise.all(
      [...this.#listeners].map(async ([host, listeners]) => {
        try {
          const worker = await this.get(host);
          for (const listener of [...listeners]) listener(worker);
        } catch {
          // A missing response does not mean that the host is down: this gateway may be disconnected.
        }
      }),
    );
  }
}

const NODE_RESPONSE_MS = 5000;

/** Lists and drains the workers of a fleet, for operators. */
export class Nodes {
  readonly #connection: FleetConnection;
  readonly #hosts: HostMonitor;

  constructor(connection: FleetConnection) {
    this.#connection = connection;
    this.#hosts = new HostMonitor(connection);
  }

  list(): Promise<WorkerInfo[]> {
    return this.#hosts.list();
  }

  /** Makes a worker reject new jobs, even after a restart. Running commands continue. */
  drain(host: string): Promise<WorkerInfo> {
    return this.#command(host, "drain");
  }

  /** Makes a drained worker accept jobs again. */
  return(host: string): Promise<WorkerInfo> {
    return this.#command(host, "return");
  }

  async #command(host: string, operation: "drain" | "return"): Promise<WorkerInfo> {
    const { nc, subjects } = this.#connection;
    const subject = subjects.node(validateName("host", host), operation);
    try {
      await nc.request(subject, JSON.stringify({ order: operation }), { timeout: NODE_RESPONSE_MS });
    } catch (error) {
      if (error instanceof RequestError && error.cause instanceof NoRespondersError) {
        throw new SallyportError("NodeNotFound", ...nodeNotFound(host));
      }
      if (error instanceof TimeoutError)
        throw new SallyportError("NodeNotFound", ...nodeUnresponsive(host, NODE_RESPONSE_MS));
      throw error;
    }
    // The worker renews its heartbeat before it responds.
    const now = await this.#hosts.get(host);
    if (!now) throw new SallyportError("NodeNotFound", ...nodeNotFound(host));
    return now;
  }
}
