import { constants } from "node:os";
import type { SessionHandle } from "../../core/gateway.ts";
import type { Io } from "../command.ts";
import { EXIT_SIGNAL } from "../exit-code.ts";

const FORWARDED = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const;
/** What the reader of stdout gets to take the last output after a signal. */
const LAST_WORDS_MS = 2000;
type Forwarded = (typeof FORWARDED)[number];

/**
 * The command has a session of its own, so Ctrl-C reaches only us: the first one is passed on to the command's whole
 * tree with its grace, the second kills the tree at once, and the third gives up on everything.
 */
export class SignalForwarder {
  #session: SessionHandle | null = null;
  #received: Forwarded[] = [];
  #leaving: NodeJS.Timeout | undefined;
  readonly #giveUp = new AbortController();
  readonly #graceMs: number | undefined;
  readonly #io: Io;
  readonly #listeners = FORWARDED.map((signal) => ({ signal, listener: () => this.#receive(signal) }));

  constructor(graceMs: number | undefined, io: Io) {
    this.#io = io;
    this.#graceMs = graceMs;
    for (const { signal, listener } of this.#listeners) process.on(signal, listener);
  }

  /** Aborted by a signal that came while there was no command yet to pass it on to. */
  get beforeStart(): AbortSignal {
    return this.#giveUp.signal;
  }

  get exitCode(): number {
    return EXIT_SIGNAL + constants.signals[this.#received[0] ?? "SIGTERM"];
  }

  /** Also passes on what came in before the command had started. */
  to(session: SessionHandle): void {
    clearTimeout(this.#leaving);
    this.#session = session;
    if (this.#received.length > 0) this.#passOn();
  }

  stop(): void {
    for (const { signal, listener } of this.#listeners) process.off(signal, listener);
  }

  #receive(signal: Forwarded): void {
    this.#received.push(signal);
    // The terminal has echoed ^C and stands behind it.
    if (signal === "SIGINT" && this.#io.isTTY.stderr) this.#io.err("\n");
    if (this.#received.length > 2) process.exit(this.exitCode);
    if (this.#session) {
      this.#passOn();
    } else {
      this.#giveUp.abort();
      this.#leaveSoon();
    }
  }

  #passOn(): void {
    const [first, second] = this.#received;
    const kill = second ? { signal: "SIGKILL" } : { signal: first, graceMs: this.#graceMs };
    // That it may have ended meanwhile is what was wanted.
    const over = this.#session?.kill(kill).catch(() => {});
    void over?.then(() => this.#leaveSoon());
  }

  /** Neither a start that hangs nor a reader that has stopped reading must hold us for long. */
  #leaveSoon(): void {
    clearTimeout(this.#leaving);
    this.#leaving = setTimeout(() => process.exit(this.exitCode), LAST_WORDS_MS).unref();
  }
}
