import type { JetStreamManager } from "@nats-io/jetstream";
import type { KV } from "@nats-io/kv";
import { NoRespondersError, RequestError, TimeoutError } from "@nats-io/transport-node";
import { SallyportError } from "../core/error.ts";
import type { FleetConnection } from "./connection.ts";
import { nodeNotFound, nodeUnresponsive } from "./errors.ts";
import { validateName } from "./subjects.ts";
import { WorkerInfo } from "./wire.ts";

const POLL_MS = 2000;
/** Null: its heartbeat has been missing for longer than one may. */
type HostListener = (worker: WorkerInfo | null) => void;

/** Watches the workers that have something of ours, as long as they do. */
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

  /** Tells now and then how a host is. Returns how to stop. */
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

  /** Null: there is no such worker, or not any more. Throws where the servers give no answer. */
  async get(host: string): Promise<WorkerInfo | null> {
    const found = await this.#bucket.get(host);
    return found?.operation === "PUT" ? WorkerInfo.parse(found.json()) : null;
  }

  /** Every worker that lives, by name. */
  async list(): Promise<WorkerInfo[]> {
    const found: WorkerInfo[] = [];
    for (const host of await this.names()) {
      const entry = await this.#bucket.get(host);
      const worker = entry?.operation === "PUT" ? WorkerInfo.safeParse(entry.json()) : null;
      if (worker?.success) found.push(worker.data);
    }
    return found;
  }

  /** Of every worker that lives. As the server counts them at one moment. To read the bucket from one end to the other would miss who renews its entry meanwhile. */
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
          // No answer says nothing about the host: nobody is given up because our own line is down.
        }
      }),
    );
  }
}

const NODE_RESPONSE_MS = 5000;

/** The machines of a fleet, as an operator sees them. */
export class Nodes {
  readonly #connection: FleetConnection;
  readonly #hosts: HostMonitor;

  constructor(connection: FleetConnection) {
    this.#connection = connection;
    this.#hosts = new HostMonitor(connection);
  }

  /** Those that live, by name. */
  list(): Promise<WorkerInfo[]> {
    return this.#hosts.list();
  }

  /** It takes no new work from now on, also after a restart; what runs there runs on. */
  drain(host: string): Promise<WorkerInfo> {
    return this.#command(host, "drain");
  }

  /** It takes work again. */
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
      if (error instanceof TimeoutError) throw new SallyportError("NodeNotFound", ...nodeUnresponsive(host));
      throw error;
    }
    // It has renewed its entry before it answered.
    const now = await this.#hosts.get(host);
    if (!now) throw new SallyportError("NodeNotFound", ...nodeNotFound(host));
    return now;
  }
}
