import { SallyportError } from "../../core/error.ts";
import type { SessionHandle } from "../../core/gateway.ts";
import { Passage } from "../../text/terminal/queries.ts";
import type { Io } from "../command.ts";
import { typingRefused } from "../notes.ts";
import { setTalking } from "./ask-unless-talking.ts";
import { DetachKeys } from "./detach-keys.ts";
import { type OwnTerminal, ownTerminal } from "./tty.ts";

export interface Conversation {
  /** Neither typed into nor resized. */
  readOnly: boolean;
  /** Where in the output to begin, and what draws the screen as it is there. */
  offset: number;
  opening: string;
}

/** Joins the person's terminal with a session's until it has ended or they detach with C-p C-q. */
export async function converse(
  session: SessionHandle,
  io: Io,
  { readOnly, offset, opening }: Conversation,
): Promise<"ended" | "detached"> {
  const over = new AbortController();
  const passage = new Passage();
  const own = ownTerminal(io);
  const cooked = own?.raw();
  setTalking(own !== null);
  const stopTyping = listen(session, io, over, readOnly);
  const stopSizing = own && !readOnly ? followSize(session, own) : () => {};
  try {
    io.out(passage.pass(Buffer.from(opening)));
    for await (const chunk of session.follow({ offset, signal: over.signal })) {
      io.out(passage.pass(chunk.bytes));
      await io.drained();
    }
    return over.signal.aborted ? "detached" : "ended";
  } finally {
    setTalking(false);
    stopSizing();
    stopTyping();
    if (own) io.out(passage.undo());
    cooked?.();
  }
}

/** The session is as large as the terminal that was attached or resized last. */
function followSize(session: SessionHandle, own: OwnTerminal): () => void {
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
