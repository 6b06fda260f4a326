import { SallyportError } from "../../core/error.ts";
import type { SessionHandle } from "../../core/gateway.ts";
import type { TerminalSize } from "../../core/terminal.ts";

/** So much may wait for a program that does not read, or for a person's yes. */
const MOST_WAITING = 64 * 1024;
const TOO_MUCH_WAITING = "Too much is waiting to be typed: the program does not read it.";
/** Nobody is told of these: they typed into something that was just over. */
const TOO_LATE: ReadonlySet<string> = new Set(["AlreadyExited", "StdinClosed", "SessionNotFound"]);

export interface TypingRefusal {
  error: string;
  message: string;
}

/** What a viewer types into a session: in order, one thing after the other, a bounded amount at a time. */
export class TypeAhead {
  readonly #session: SessionHandle;
  readonly #resize: (size: TerminalSize) => Promise<void>;
  readonly #refuse: (refusal: TypingRefusal) => void;
  #queue = Promise.resolve();
  #waiting = 0;
  #size: TerminalSize | null = null;

  constructor(
    session: SessionHandle,
    resize: (size: TerminalSize) => Promise<void>,
    refuse: (refusal: TypingRefusal) => void,
  ) {
    this.#session = session;
    this.#resize = resize;
    this.#refuse = refuse;
  }

  type(text: string): void {
    const bytes = Buffer.from(text);
    if (this.#waiting + bytes.length > MOST_WAITING) {
      this.#refuse({ error: "TooLarge", message: TOO_MUCH_WAITING });
      return;
    }
    this.#waiting += bytes.length;
    this.#then(() =>
      this.#session.write(bytes).finally(() => {
        this.#waiting -= bytes.length;
      }),
    );
  }

  /** Only the last of several sizes is given. */
  resize(size: TerminalSize): void {
    const isQueued = this.#size !== null;
    this.#size = size;
    if (isQueued) return;
    this.#then(async () => {
      const last = this.#size ?? size;
      this.#size = null;
      await this.#resize(last);
    });
  }

  #then(step: () => Promise<void>): void {
    this.#queue = this.#queue.then(step).catch((error: Error) => {
      if (error instanceof SallyportError && TOO_LATE.has(error.type)) return;
      const type = error instanceof SallyportError ? error.type : "InternalError";
      this.#refuse({ error: type, message: error.message });
    });
  }
}
