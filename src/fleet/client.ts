import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type Msg, NoRespondersError, type Subscription, TimeoutError } from "@nats-io/transport-node";
import { SallyportError } from "../core/error.ts";
import type { FleetOptions } from "../core/settings.ts";
import { type FleetConnection, isRejected, openConnection } from "./connection.ts";
import { fleetNotFound, hostSilent, incompatibleMessage, requestNotPermitted } from "./errors.ts";
import { HostMonitor } from "./nodes.ts";
import { FleetRegistry } from "./registry.ts";
import { type Address, type ControlRequest, ControlResponse, parseJson, SessionEvent, WIRE_VERSION } from "./wire.ts";

const RESPONSE_TIMEOUT_MS = 10_000;
const RETRY_DELAY_MS = 200;
/** How long requests to a worker that does not listen are retried: a restarting worker is back within this time. */
const RESTART_GRACE_MS = 8000;

/** Receives the messages of a stream, and null after a reconnect, when messages may have been lost. */
type StreamListener = (message: Uint8Array | null) => void;

type RequestArgs = Pick<ControlRequest, "id"> &
  Partial<Pick<ControlRequest, "args" | "flow" | "statement">> & {
    /** Null addresses the sessions of all agents. */
    agent: string | null;
    /** Whether to fail immediately when no worker listens, instead of waiting for a restart. */
    now?: boolean | undefined;
  };

/** The connection of a gateway process to its fleet: sends requests to workers and receives their events. */
export class FleetClient {
  readonly connection: FleetConnection;
  readonly address: Address;
  readonly registry: FleetRegistry;
  readonly hosts: HostMonitor;
  readonly #streams = new Map<string, StreamListener>();
  readonly #subscription: Subscription;
  #onEvent: (event: SessionEvent, from: string) => void = () => {};
  #onReconnect: () => void = () => {};

  private constructor(connection: FleetConnection, address: Address) {
    this.connection = connection;
    this.address = address;
    this.registry = new FleetRegistry(connection.sessions);
    this.hosts = new HostMonitor(connection);
    const subject = connection.subjects.result(address.gateway, "*", address.process, "*");
    this.#subscription = connection.nc.subscribe(subject, {
      callback: (error, message) => {
        if (!error) this.#receive(message);
      },
    });
    void this.#watchConnection();
  }

  static async open(options: FleetOptions): Promise<FleetClient> {
    const connection = await openConnection(options, "gateway");
    try {
      const manager = await connection.js.jetstreamManager(false);
      await manager.streams.info(connection.stores.work);
    } catch (error) {
      await connection.nc.close();
      throw new SallyportError("FleetUnreachable", ...fleetNotFound(connection.fleet, (error as Error).message));
    }
    return new FleetClient(connection, { gateway: connection.name, process: randomBytes(9).toString("hex") });
  }

  /**
   * Sets the event listeners. `from` is the host that sent the event, as enforced by the servers. Events may have been
   * missed when `onReconnect` is called.
   */
  listen(onEvent: (event: SessionEvent, from: string) => void, onReconnect: () => void): void {
    this.#onEvent = onEvent;
    this.#onReconnect = onReconnect;
  }

  openStream(listener: StreamListener): { name: string; close: () => void } {
    const name = randomBytes(12).toString("hex");
    this.#streams.set(name, listener);
    return { name, close: () => this.#streams.delete(name) };
  }

  /** Sends a request to a worker and returns its response. Retries while no worker listens: it may be restarting. */
  async request(host: string, operation: string, { agent, now = false, ...rest }: RequestArgs): Promise<unknown> {
    const subject = this.connection.subjects.control(host, agent, operation);
    const request: ControlRequest = {
      version: WIRE_VERSION,
      to: this.address,
      args: undefined,
      statement: undefined,
      ...rest,
    };
    const payload = JSON.stringify(request);
    const end = performance.now() + (now ? 0 : RESTART_GRACE_MS);
    for (;;) {
      try {
        const message = await this.connection.nc.request(subject, payload, { timeout: RESPONSE_TIMEOUT_MS });
        return parseResponse(message);
      } catch (error) {
        if (error instanceof SallyportError) throw error;
        if (isRejected(error)) throw new SallyportError("PermissionDenied", ...requestNotPermitted(host));
        // Only an undelivered request is repeated: one without a response may have been executed.
        if (!isUndelivered(error) || performance.now() > end)
          throw hostSilentError(host, error instanceof TimeoutError ? RESPONSE_TIMEOUT_MS : null);
        await sleep(RETRY_DELAY_MS);
      }
    }
  }

  /** Sends a request without waiting for a response. */
  notify(
    host: string,
    agent: string | null,
    operation: string,
    request: Omit<ControlRequest, "version" | "statement">,
  ): void {
    const payload = JSON.stringify({ version: WIRE_VERSION, ...request });
    if (!this.connection.nc.isClosed())
      this.connection.nc.publish(this.connection.subjects.control(host, agent, operation), payload);
  }

  async close(): Promise<void> {
    this.hosts.close();
    this.#subscription.unsubscribe();
    await this.connection.nc.close();
  }

  #receive(message: Msg): void {
    // A member can make a server deliver messages with other subjects here. They are ignored.
    const to = this.connection.subjects.parseResult(message.subject);
    if (to?.gateway !== this.address.gateway || to.process !== this.address.process) return;
    const event = to.flow === "news" ? SessionEvent.safeParse(parseJson(message)) : null;
    if (event?.success) this.#onEvent(event.data, to.host);
    else if (!event) this.#streams.get(to.flow)?.(message.data);
  }

  async #watchConnection(): Promise<void> {
    for await (const { type } of this.connection.nc.status()) {
      if (type !== "reconnect") continue;
      for (const listener of [...this.#streams.values()]) listener(null);
      this.#onReconnect();
    }
  }
}

function parseResponse(message: Msg): unknown {
  const response = ControlResponse.safeParse(parseJson(message));
  if (!response.success) throw new SallyportError("FleetVersion", ...incompatibleMessage(null));
  if (response.data.ok) return response.data.value;
  const { type, message: text, recovery } = response.data.error;
  throw new SallyportError(type as SallyportError["type"], text, recovery);
}

/** Reports whether the request failed because no worker subscribes to the subject. */
function isUndelivered(error: unknown): boolean {
  return error instanceof NoRespondersError || (error as Error).cause instanceof NoRespondersError;
}

export function hostSilentError(host: string, timeoutMs: number | null = null): SallyportError {
  return new SallyportError("HostSilent", ...hostSilent(host, timeoutMs));
}
