import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type Msg, NoRespondersError, type Subscription } from "@nats-io/transport-node";
import { SallyportError } from "../core/error.ts";
import type { FleetOptions } from "../core/settings.ts";
import { isRefused, type Link, openLink } from "./connection.ts";
import { hostSilent, noFleetYet, notLetAsk, notUnderstood } from "./errors.ts";
import { Hosts } from "./nodes.ts";
import { Book } from "./registry.ts";
import { type Address, Answer, type Ask, News, WIRE_VERSION } from "./wire.ts";

const ANSWER_MS = 10_000;
/** A worker that is being restarted is back after a moment. */
const RETRY_MS = 200;
const BACK_WITHIN_MS = 8000;

/** Null: the line was down, and what was sent meanwhile is lost. */
type FlowListener = (message: Uint8Array | null) => void;

type AskArgs = Pick<Ask, "id"> &
  Partial<Pick<Ask, "args" | "flow" | "statement">> & {
    /** Null: about every agent's sessions. */
    agent: string | null;
    /** Who is not there now is not waited for. */
    now?: boolean | undefined;
  };

/** What a gateway's process has with its fleet: a connection, an address of its own, and who listens there. */
export class Ties {
  readonly link: Link;
  readonly address: Address;
  readonly book: Book;
  readonly hosts: Hosts;
  readonly #flows = new Map<string, FlowListener>();
  readonly #subscription: Subscription;
  #onNews: (news: News, from: string) => void = () => {};
  #onReconnect: () => void = () => {};

  private constructor(link: Link, address: Address) {
    this.link = link;
    this.address = address;
    this.book = new Book(link.sessions);
    this.hosts = new Hosts(link);
    const callback = (error: Error | null, message: Msg) => {
      if (!error) this.#take(message);
    };
    this.#subscription = link.nc.subscribe(link.subjects.result(address.gateway, "*", address.process, "*"), {
      callback,
    });
    void this.#watchLine();
  }

  static async open(options: FleetOptions): Promise<Ties> {
    const link = await openLink(options, "gateway");
    try {
      const manager = await link.js.jetstreamManager(false);
      await manager.streams.info(link.stores.work);
    } catch (error) {
      await link.nc.close();
      throw new SallyportError("FleetUnreachable", ...noFleetYet(link.fleet, (error as Error).message));
    }
    return new Ties(link, { gateway: link.name, process: randomBytes(9).toString("hex") });
  }

  /** `news`: of sessions, and the host whose worker the servers let say it. `reconnected`: some of it may have been missed. */
  listen(onNews: (news: News, from: string) => void, onReconnect: () => void): void {
    this.#onNews = onNews;
    this.#onReconnect = onReconnect;
  }

  openFlow(take: FlowListener): { name: string; close: () => void } {
    const name = randomBytes(12).toString("hex");
    this.#flows.set(name, take);
    return { name, close: () => this.#flows.delete(name) };
  }

  /** Asks a host's worker. Where nobody listens there it is tried again for a moment: a worker may be restarting. */
  async ask(host: string, operation: string, { agent, now = false, ...rest }: AskArgs): Promise<unknown> {
    const subject = this.link.subjects.control(host, agent, operation);
    const ask: Ask = { version: WIRE_VERSION, to: this.address, args: undefined, statement: undefined, ...rest };
    const payload = JSON.stringify(ask);
    const end = performance.now() + (now ? 0 : BACK_WITHIN_MS);
    for (;;) {
      try {
        const message = await this.link.nc.request(subject, payload, { timeout: ANSWER_MS });
        return answered(message);
      } catch (error) {
        if (error instanceof SallyportError) throw error;
        if (isRefused(error)) throw new SallyportError("PermissionDenied", ...notLetAsk(host));
        // Nobody heard it, so nothing has happened; a mere silence may be a deed.
        if (!isUnheard(error) || performance.now() > end) throw silent(host);
        await sleep(RETRY_MS);
      }
    }
  }

  /** Without waiting for an answer. */
  tell(host: string, agent: string | null, operation: string, ask: Omit<Ask, "version" | "statement">): void {
    const payload = JSON.stringify({ version: WIRE_VERSION, ...ask });
    if (!this.link.nc.isClosed()) this.link.nc.publish(this.link.subjects.control(host, agent, operation), payload);
  }

  async close(): Promise<void> {
    this.hosts.close();
    this.#subscription.unsubscribe();
    await this.link.nc.close();
  }

  #take(message: Msg): void {
    // A server can be made to deliver here what was published under another subject: that is nobody's word.
    const to = this.link.subjects.parseResult(message.subject);
    if (to?.gateway !== this.address.gateway || to.process !== this.address.process) return;
    const news = to.flow === "news" ? News.safeParse(json(message)) : null;
    if (news?.success) this.#onNews(news.data, to.host);
    else if (!news) this.#flows.get(to.flow)?.(message.data);
  }

  async #watchLine(): Promise<void> {
    for await (const { type } of this.link.nc.status()) {
      if (type !== "reconnect") continue;
      for (const take of [...this.#flows.values()]) take(null);
      this.#onReconnect();
    }
  }
}

function json(message: Msg): unknown {
  try {
    return message.json();
  } catch {
    return null;
  }
}

function answered(message: Msg): unknown {
  const answer = Answer.safeParse(json(message));
  if (!answer.success) throw new SallyportError("FleetVersion", ...notUnderstood(null));
  if (answer.data.ok) return answer.data.value;
  const { type, message: text, recovery } = answer.data.error;
  throw new SallyportError(type as SallyportError["type"], text, recovery);
}

/** The server knows of no one who listens there. */
function isUnheard(error: unknown): boolean {
  return error instanceof NoRespondersError || (error as Error).cause instanceof NoRespondersError;
}

export function silent(host: string): SallyportError {
  return new SallyportError("HostSilent", ...hostSilent(host));
}
