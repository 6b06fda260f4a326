import { setTimeout as sleep } from "node:timers/promises";
import type { AgentContext } from "./agent-context.ts";

/** What belongs to one client for as long as it is connected. */
export class Connection {
  /** As whom its user decides; null: decisions are not taken from this client. */
  readonly hostUser: string | null;
  readonly #background = new Set<string>();
  readonly #running = new Set<Promise<unknown>>();
  /** What a 2025-era client subscribed to: the resource, and how it was named. */
  readonly subscribed = new Map<string, string>();

  constructor(hostUser: string | null) {
    this.hostUser = hostUser;
  }

  /** Sessions it started that were still running when their call was answered, by id. */
  get background(): readonly string[] {
    return [...this.#background];
  }

  addBackground(session: string): void {
    this.#background.add(session);
  }

  /** Counts a call as in flight until it is over. */
  track<T>(call: Promise<T>): Promise<T> {
    const settled = call.catch(() => {}).finally(() => this.#running.delete(settled));
    this.#running.add(settled);
    return call;
  }

  /** Resolves when no call is in flight: whatever was cancelled has ended by then. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}

/** How long commands that were cancelled may take to end; their keepers see it through in any case. */
const SHUTDOWN_MS = 10_000;

/**
 * What is left to do when a client is gone. Its foreground commands were cancelled with their calls; its background
 * sessions stay, unless they are to go too.
 */
export async function shutdown(agentContext: AgentContext, connection: Connection): Promise<void> {
  await Promise.race([ended(agentContext, connection), sleep(SHUTDOWN_MS, undefined, { ref: false })]);
}

async function ended(agentContext: AgentContext, connection: Connection): Promise<void> {
  await connection.idle();
  if (connection.background.length === 0) return;
  const gateway = await agentContext.gateway();
  await Promise.allSettled(connection.background.map((id) => gateway.session(id).kill()));
}
