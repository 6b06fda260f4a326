import { SallyportError } from "../../core/error.ts";
import type { SessionHandle } from "../../core/gateway.ts";
import { QueryFilter } from "../../text/terminal/queries.ts";
import type { Io } from "../command.ts";
import { exitCodeOf } from "../exit-code.ts";
import { detachedNote, reportOutcome, typingRefused } from "../notes.ts";
import { setAttached } from "./approval-prompt.ts";
import { type LocalTerminal, localTerminal } from "./tty.ts";

export interface AttachOptions {
  /** Neither typed into nor resized. */
  readOnly: boolean;
  /** Where in the output to begin, and what draws the screen as it is there. */
  offset: number;
  opening: string;
}

/**
 * Connects the person's terminal to a session until it ends or they detach with C-p C-q, and reports which. The exit
 * code is the command's own, or 0 after a detach.
 */
export async function attachSession(session: SessionHandle, io: Io, options: AttachOptions): Promise<number> {
  if ((await connect(session, io, options)) === "detached") {
    io.err(`${detachedNote(session)}\n`);
    return 0;
  }
  const info = await session.wait();
  reportOutcome(info, io);
  return exitCodeOf(info);
}

async function connect(
  session: SessionHandle,
  io: Io,
  { readOnly, offset, opening }: AttachOptions,
): Promise<"ended" | "detached"> {
  const over = new AbortController();
  const passage = new QueryFilter();
  const own = localTerminal(io);
  const cooked = own?.raw();
  setAttached(own !== null);
  const stopTyping = listen(session, io, over, readOnly);
  const stopSizing = own && !readOnly ? followSize(session, own) : () => {};
  try {
    io.out(passage.filter(Buffer.from(opening)));
    for await (const chunk of session.follow({ offset, signal: over.signal })) {
      io.out(passage.filter(chunk.bytes));
      await io.drained();
    }
    return over.signal.aborted ? "detached" : "ended";
  } finally {
    setAttached(false);
    stopSizing();
    stopTyping();
    if (own) io.out(passage.reset());
    cooked?.();
  }
}

/** The session is as large as the terminal that was attached or resized last. */
function followSize(session: SessionHandle, own: LocalTerminal): () => void {
  const resize = () => void session.resize(own.size()).catch(() => {}); // it may just have ended
  resize();
  return own.onResize(resize);
}

/** Passes on what is typed, in order. What is refused is told and the rest goes on. */
function listen(session: SessionHandle, io: Io, over: AbortController, readOnly: boolean): () => void {
  const keys = new DetachKeys();
  let queue = Promise.resolve();
  const type = (data: Uint8Array) => {
    const { pass, detach } = keys.take(data);
    if (pass.length > 0 && !readOnly) queue = queue.then(() => write(session, pass, io));
    if (detach) over.abort();
  };
  io.stdin.on("data", type);
  io.stdin.resume();
  return () => {
    io.stdin.off("data", type);
    io.stdin.pause();
  };
}

async function write(session: SessionHandle, keys: Uint8Array, io: Io): Promise<void> {
  try {
    await session.write(keys);
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error;
    if (error.type === "AlreadyExited" || error.type === "StdinClosed") return;
    io.err(`\r\n${typingRefused(error.message)}\r\n`);
  }
}

const CONTROL_P = 0x10;
const CONTROL_Q = 0x11;

/** Watches for C-p C-q among what is typed. A C-p waits for the key after it, which decides whether it was meant. */
class DetachKeys {
  #held = false;

  /** What to pass on, and whether the two keys came. */
  take(keys: Uint8Array): { pass: Uint8Array; detach: boolean } {
    const pass: number[] = [];
    for (const key of keys) {
      if (this.#held && key === CONTROL_Q) return { pass: Uint8Array.from(pass), detach: true };
      if (this.#held) pass.push(CONTROL_P);
      this.#held = key === CONTROL_P;
      if (!this.#held) pass.push(key);
    }
    return { pass: Uint8Array.from(pass), detach: false };
  }
}
