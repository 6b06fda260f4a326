import { NoRespondersError, RequestError, TimeoutError } from "@nats-io/transport-node";
import { SallyportError } from "../core/error.ts";
import type { Link } from "./connection.ts";
import { nodeSilent, noSuchNode } from "./errors.ts";
import { Hosts } from "./hosts.ts";
import { checkedName } from "./subjects.ts";
import type { WorkerInfo } from "./wire.ts";

const PATIENCE_MS = 5000;

/** The machines of a fleet, as an operator sees them. */
export class Nodes {
  readonly #link: Link;
  readonly #hosts: Hosts;

  constructor(link: Link) {
    this.#link = link;
    this.#hosts = new Hosts(link);
  }

  /** Those that live, by name. */
  list(): Promise<WorkerInfo[]> {
    return this.#hosts.all();
  }

  /** It takes no new work from now on, also after a restart; what runs there runs on. */
  drain(host: string): Promise<WorkerInfo> {
    return this.#order(host, "drain");
  }

  /** It takes work again. */
  return(host: string): Promise<WorkerInfo> {
    return this.#order(host, "return");
  }

  async #order(host: string, operation: "drain" | "return"): Promise<WorkerInfo> {
    const { nc, subjects } = this.#link;
    const subject = subjects.node(checkedName("host", host), operation);
    try {
      await nc.request(subject, JSON.stringify({ order: operation }), { timeout: PATIENCE_MS });
    } catch (error) {
      if (error instanceof RequestError && error.cause instanceof NoRespondersError) {
        throw new SallyportError("NodeNotFound", ...noSuchNode(host));
      }
      if (error instanceof TimeoutError) throw new SallyportError("NodeNotFound", ...nodeSilent(host));
      throw error;
    }
    // It has renewed its entry before it answered.
    const now = await this.#hosts.look(host);
    if (!now) throw new SallyportError("NodeNotFound", ...noSuchNode(host));
    return now;
  }
}
