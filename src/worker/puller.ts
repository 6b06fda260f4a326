import { createInbox, type Msg, type NatsConnection, type Subscription } from "@nats-io/transport-node";

const PULL_EXPIRES_MS = 20_000;
/** Time without a message after which pull requests are repeated: they may have been lost with a server. */
const PULL_TIMEOUT_MS = 30_000;

/**
 * Pulls as many jobs from a consumer as the worker has free slots. This balances the load across workers and applies
 * backpressure.
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

  /** Requests a job for each free slot that has no pending request. */
  pull(): void {
    const batch = this.#free() - this.#requested;
    if (batch <= 0 || this.#nc.isClosed()) return;
    this.#requested += batch;
    const payload = JSON.stringify({ batch, expires: PULL_EXPIRES_MS * 1_000_000 });
    this.#nc.publish(this.#subject, payload, { reply: this.#inbox });
  }

  /** Repeats all pull requests, which may have been lost with a server. */
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
    // The pull request expired before it delivered all messages.
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

/** Removes the message from the queue, so that no worker receives it again. */
export const term = (message: Msg): void => void message.respond("+TERM");

/** Returns the message to the queue, where it is delivered again after the delay. */
export function nak(message: Msg, delayMs = 0): void {
  message.respond(delayMs === 0 ? "-NAK" : `-NAK ${JSON.stringify({ delay: delayMs * 1_000_000 })}`);
}
