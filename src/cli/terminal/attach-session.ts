import type { Approvals } from "../../approval/approvals.ts";
import { SallyportError } from "../../core/error.ts";
import type { SessionHandle } from "../../core/gateway.ts";
import { redrawSequence } from "../../session/terminal/render/ansi.ts";
import { QueryFilter } from "../../text/terminal/queries.ts";
import type { Io } from "../command.ts";
import { exitCodeOf } from "../exit-code.ts";
import { detachedNote, reportOutcome, typingRefused } from "../notes.ts";
import { setTerminalUse } from "./approval-prompt.ts";
import { type AttachAction, AttachKeys } from "./attach-keys.ts";
import { outputWriter } from "./output.ts";
import { announceApprovals, reviewApprovals } from "./review-approvals.ts";
import { type LocalTerminal, localTerminal } from "./tty.ts";

export interface AttachOptions {
  /** If true, neither input nor size changes are sent to the session. */
  readOnly: boolean;
  /** If true, sequences that act outside the screen, such as on the title or the clipboard, are passed on. */
  raw: boolean;
  /** Where the output starts. Default: at the current screen, which is drawn first. */
  start?: AttachStart;
  /** The requests of the session's agent are announced, and shown with C-p C-r. */
  approvals: Approvals;
}

interface AttachStart {
  /** The position in the output. */
  offset: number;
  /** The sequences that draw the screen as it is there. */
  opening: string;
}

/**
 * Connects this terminal to a session until the session ends or the user detaches with C-p C-q. C-p C-r shows the pending
 * approvals in between. Returns the exit code of the command, or 0 after a detach.
 */
export async function attachSession(session: SessionHandle, io: Io, options: AttachOptions): Promise<number> {
  const own = localTerminal(io);
  const cooked = own?.raw();
  const { agent } = session.info();
  const announcement = own ? announceApprovals(options.approvals, agent, io) : null;
  let end: Connection["end"];
  try {
    let start = options.start ?? (await startOf(session, options.readOnly, io));
    for (let keyboard = ""; ; ) {
      const connection = await connect(session, io, {
        ...options,
        start: { ...start, opening: start.opening + keyboard },
        keepsTitle: () => announcement?.isShown() ?? false,
      });
      end = connection.end;
      if (end !== "review") break;
      setTerminalUse("reviewing");
      await reviewApprovals(options.approvals, agent, io);
      start = await startOf(session, options.readOnly, io, connection.offset);
      keyboard = connection.keyboard;
    }
  } finally {
    setTerminalUse("free");
    announcement?.stop();
    cooked?.();
  }
  if (end === "detach") {
    io.err(`${detachedNote(session)}\n`);
    return 0;
  }
  const info = await session.wait();
  reportOutcome(info, io);
  return exitCodeOf(info);
}

/** Returns the current screen of a session, or the end of its output, or `offset` if it has no terminal. */
async function startOf(session: SessionHandle, readOnly: boolean, io: Io, offset?: number): Promise<AttachStart> {
  if (!session.info().pty) return { offset: offset ?? (await session.logs({ tail: 0 })).nextOffset, opening: "" };
  const own = localTerminal(io);
  // Fails when the session has just ended.
  if (own && !readOnly) await session.resize(own.size()).catch(() => {});
  const modes = new QueryFilter({ raw: true });
  modes.filter((await session.repaint()).output);
  const screen = await session.screen({ attributes: true });
  const opening = own ? modes.modes() + redrawSequence(screen, own.size()) : `${screen.lines.join("\n").trimEnd()}\n`;
  return { offset: screen.offset, opening };
}

/** How a connection ended, and where. */
interface Connection {
  end: "ended" | AttachAction;
  /** The position in the output. */
  offset: number;
  /** The sequences that select the keyboard protocols of the program. */
  keyboard: string;
}

async function connect(
  session: SessionHandle,
  io: Io,
  { readOnly, raw, start, keepsTitle }: AttachOptions & { start: AttachStart; keepsTitle: () => boolean },
): Promise<Connection> {
  const over = new AbortController();
  const passage = new QueryFilter({ raw, keepsTitle });
  // Without a terminal of its own, the command draws nothing: its output is text.
  const text = session.info().pty || raw ? null : outputWriter(io, "visible");
  const own = localTerminal(io);
  setTerminalUse(own === null ? "free" : "attached");
  const typed = listen(session, io, over, readOnly);
  const stopSizing = own && !readOnly ? followSize(session, own) : () => {};
  let { offset } = start;
  try {
    io.out(passage.filter(Buffer.from(start.opening)));
    for await (const chunk of session.follow({ offset, signal: over.signal })) {
      if (text === null) io.out(passage.filter(chunk.bytes));
      else text.out(chunk.bytes);
      offset += chunk.dropped + chunk.bytes.length;
      await io.drained();
    }
    return { end: typed.action() ?? "ended", offset, keyboard: passage.keyboard() };
  } finally {
    stopSizing();
    typed.stop();
    text?.end();
    if (own) io.out(passage.reset());
  }
}

/** Resizes the session to the size of this terminal, now and whenever this terminal is resized. */
function followSize(session: SessionHandle, own: LocalTerminal): () => void {
  // Fails when the session has just ended.
  const resize = () => void session.resize(own.size()).catch(() => {});
  resize();
  return own.onResize(resize);
}

/** How long C-p is held back, for the key that may follow it. */
const HELD_MS = 500;

/** Sends input to the session in order. Rejected input is reported, and later input is still sent. */
function listen(
  session: SessionHandle,
  io: Io,
  over: AbortController,
  readOnly: boolean,
): { action(): AttachAction | null; stop(): void } {
  const keys = new AttachKeys();
  let queue = Promise.resolve();
  let requested: AttachAction | null = null;
  let release: NodeJS.Timeout | undefined;
  const pass = (bytes: Uint8Array) => {
    if (bytes.length > 0 && !readOnly) queue = queue.then(() => write(session, bytes, io));
  };
  const type = (data: Uint8Array) => {
    if (requested) return; // This input was typed for the program, which is not shown any more.
    clearTimeout(release);
    const taken = keys.take(data);
    pass(taken.pass);
    if (keys.holds) release = setTimeout(() => pass(keys.flush()), HELD_MS);
    requested = taken.action;
    if (requested) over.abort();
  };
  io.stdin.on("data", type);
  io.stdin.resume();
  return {
    action: () => requested,
    stop: () => {
      clearTimeout(release);
      io.stdin.off("data", type);
      io.stdin.pause();
    },
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
