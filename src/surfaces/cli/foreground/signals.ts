import { constants } from "node:os";
import type { SessionHandle } from "../../../contract/gateway.ts";
import { EXIT_SIGNAL } from "../exit-code.ts";

const FORWARDED = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const;
type Forwarded = (typeof FORWARDED)[number];

/**
 * The command has a session of its own, so Ctrl-C reaches only us: the first one is passed on to the command's whole
 * tree with its grace, the second kills the tree at once, and the third gives up on everything.
 */
export class SignalForwarder {
  #session: SessionHandle | null = null;
  #received: Forwarded[] = [];
  readonly #graceMs: number | undefined;
  readonly #listeners = FORWARDED.map((signal) => ({ signal, listener: () => this.#receive(signal) }));

  constructor(graceMs: number | undefined) {
    this.#graceMs = graceMs;
    for (const { signal, listener } of this.#listeners) process.on(signal, listener);
  }

  /** Also passes on what came in before the command had started. */
  to(session: SessionHandle): void {
    this.#session = session;
    if (this.#received.length > 0) this.#passOn();
  }

  stop(): void {
    for (const { signal, listener } of this.#listeners) process.off(signal, listener);
  }

  #receive(signal: Forwarded): void {
    this.#received.push(signal);
    if (this.#received.length > 2) process.exit(EXIT_SIGNAL + constants.signals[signal]);
    if (this.#session) this.#passOn();
  }

  #passOn(): void {
    const [first, second] = this.#received;
    const kill = second ? { signal: "SIGKILL" } : { signal: first, graceMs: this.#graceMs };
    // It may have ended meanwhile, which is what was wanted.
    this.#session?.kill(kill).catch(() => {});
  }
}
