import { createInbox, type Msg, type NatsConnection, type Subscription } from "@nats-io/transport-node";

const PULL_EXPIRES_MS = 20_000;
/** A pull request that was lost with a server is repeated after this long. */
const PULL_TIMEOUT_MS = 30_000;

/**
 * Pulls as many jobs from a consumer as there are free slots. This balances the load of the fleet and is its
 * back-pressure.
 */
export class Puller {
  readonly #nc: NatsConnection;
  readonly #subject: string;
  readonly #free: () => number;
  readonly #inbox: string;
  readonly #subscription: Subscription;
  readonly #timer: NodeJS.Timeout;
  #requested = 0;
  #lastMs = performance.now();

  constructor(
    nc: NatsConnection,
    { stream, consumer, inbox }: { stream: string; consumer: string; inbox: string },
    free: () => number,
    onMessage: (message: Msg) => void,
  ) {
    this.#nc = nc;
    this.#subject = `$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`;
    this.#free = free;
    this.#inbox = createInbox(inbox);
    this.#subscription = nc.subscribe(this.#inbox, {
      callback: (error, message) => {
        if (!error) this.#receive(message, onMessage);
      },
    });
    this.#timer = setInterval(() => this.#checkTimeout(), PULL_TIMEOUT_MS / 3).unref();
  }

  /** Requests jobs for free slots that are not requested yet. */
  pull(): void {
    const batch = this.#free() - this.#requested;
    if (batch <= 0 || this.#nc.isClosed()) return;
    this.#requested += batch;
    const payload = JSON.stringify({ batch, expires: PULL_EXPIRES_MS * 1_000_000 });
    this.#nc.publish(this.#subject, payload, { reply: this.#inbox });
  }

  /** Requests again what was lost with a server. */
  restart(): void {
    this.#requested = 0;
    this.pull();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#subscription.unsubscribe();
  }

  #receive(message: Msg, onMessage: (message: Msg) => void): void {
    this.#lastMs = performance.now();
    const status = message.headers?.code ?? 0;
    if (status === 0) {
      this.#requested = Math.max(0, this.#requested - 1);
      onMessage(message);
      return;
    }
    if (status === 100) return;
    // The request has expired with messages left.
    const left = Number(message.headers?.get("Nats-Pending-Messages") || this.#requested);
    this.#requested = Math.max(0, this.#requested - left);
    this.pull();
  }

  #checkTimeout(): void {
    if (performance.now() - this.#lastMs > PULL_TIMEOUT_MS) this.restart();
    else this.pull();
  }
}

export const ack = (message: Msg): void => void message.respond("+ACK");

/** Removes the message: no worker gets it again. */
export const term = (message: Msg): void => void message.respond("+TERM");

/** Returns the message to the queue. */
export function nak(message: Msg, delayMs = 0): void {
  message.respond(delayMs === 0 ? "-NAK" : `-NAK ${JSON.stringify({ delay: delayMs * 1_000_000 })}`);
}
