import { SallyportError } from "../../core/error.ts";
import type { SessionHandle } from "../../core/gateway.ts";
import { QueryFilter } from "../../text/terminal/queries.ts";
import type { Io } from "../command.ts";
import { exitCodeOf } from "../exit-code.ts";
import { detachedNote, reportOutcome, typingRefused } from "../notes.ts";
import { setAttached } from "./approval-prompt.ts";
import { outputWriter } from "./output.ts";
import { type LocalTerminal, localTerminal } from "./tty.ts";

export interface AttachOptions {
  /** If true, neither input nor size changes are sent to the session. */
  readOnly: boolean;
  /** If true, sequences that act outside the screen, such as on the title or the clipboard, are passed on. */
  raw: boolean;
  /** The position in the output at which to start. */
  offset: number;
  /** The sequences that draw the screen as it is at `offset`. */
  opening: string;
}

/**
 * Connects this terminal to a session until the session ends or the user detaches with C-p C-q. Returns the exit code
 * of the command, or 0 after a detach.
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
  { readOnly, raw, offset, opening }: AttachOptions,
): Promise<"ended" | "detached"> {
  const over = new AbortController();
  const passage = new QueryFilter({ raw });
  // Without a terminal of its own, the command draws nothing: its output is text.
  const text = session.info().pty || raw ? null : outputWriter(io, "visible");
  const own = localTerminal(io);
  const cooked = own?.raw();
  setAttached(own !== null);
  const stopTyping = listen(session, io, over, readOnly);
  const stopSizing = own && !readOnly ? followSize(session, own) : () => {};
  try {
    io.out(passage.filter(Buffer.from(opening)));
    for await (const chunk of session.follow({ offset, signal: over.signal })) {
      if (text === null) io.out(passage.filter(chunk.bytes));
      else text.out(chunk.bytes);
      await io.drained();
    }
    return over.signal.aborted ? "detached" : "ended";
  } finally {
    setAttached(false);
    stopSizing();
    stopTyping();
    text?.end();
    if (own) io.out(passage.reset());
    cooked?.();
  }
}

/** Resizes the session to the size of this terminal, now and whenever this terminal is resized. */
function followSize(session: SessionHandle, own: LocalTerminal): () => void {
  // Fails when the session has just ended.
  const resize = () => void session.resize(own.size()).catch(() => {});
  resize();
  return own.onResize(resize);
}

/** Sends input to the session in order. Rejected input is reported, and later input is still sent. */
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

/** Detects C-p C-q in the input. A C-p is held back until the next key arrives. */
class DetachKeys {
  #held = false;

  /** Returns the input to send, and whether the detach keys were pressed. */
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
