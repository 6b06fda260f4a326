import { setTimeout as sleep } from "node:timers/promises";
import type { AgentContext } from "./agent-context.ts";
import type { LogLevel } from "./log-messages.ts";

/** The state of one connected client. */
export class Connection {
  /** The name under which the client's user decides approvals; null when the client may not decide. */
  readonly hostUser: string | null;
  readonly #background = new Set<string>();
  readonly #running = new Set<Promise<unknown>>();
  /** Subscriptions of a client up to protocol version 2025-11-25: canonical resource URI to the URI that it sent. */
  readonly subscribed = new Map<string, string>();
  /** The level of a client up to protocol version 2025-11-25 that asked for log messages; others get none. */
  logLevel: LogLevel | null = null;

  constructor(hostUser: string | null) {
    this.hostUser = hostUser;
  }

  /** IDs of sessions that the client started and that were still running when their call returned. */
  get background(): readonly string[] {
    return [...this.#background];
  }

  addBackground(session: string): void {
    this.#background.add(session);
  }

  /** Tracks a call until it settles. */
  track<T>(call: Promise<T>): Promise<T> {
    const settled = call.catch(() => {}).finally(() => this.#running.delete(settled));
    this.#running.add(settled);
    return call;
  }

  /** Resolves when no call is in progress. Cancelled commands have ended by then. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}

/** How long to wait for cancelled commands to end. Their keepers stop them in any case. */
const SHUTDOWN_MS = 10_000;

/**
 * Cleans up after a client has disconnected. Its foreground commands were cancelled with their calls. Its background
 * sessions keep running, unless they were registered to be stopped.
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
