import type { SessionHandle } from "../core/gateway.ts";
import type { Screen } from "../core/terminal.ts";
import { colouredRows, watchedFooter, windowOnto } from "../session/terminal/render/ansi.ts";
import type { Io } from "./command.ts";

/** Often enough to look live. */
const LOOK_EVERY_MS = 80;
const ENTER_SCREEN = "\x1b[?1049h\x1b[?25l";
const LEAVE_SCREEN = "\x1b[?25h\x1b[?1049l";
const STOPPING = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Shows a session's screen in place of one's own until it has ended or the person has seen enough (Ctrl-C). Only cells
 * are drawn, by sequences of our own: what the program sends never reaches this terminal. Resolves with the last screen.
 */
export async function watchScreen(session: SessionHandle, io: Io): Promise<Screen> {
  const stopped = new AbortController();
  const stop = () => stopped.abort();
  for (const signal of STOPPING) process.on(signal, stop);
  let drawn = "";
  let screen = await session.screen({ attributes: true });
  try {
    io.out(ENTER_SCREEN);
    while (!stopped.signal.aborted) {
      const frame = frameOf(screen, session.name, io);
      if (frame !== drawn) io.out(frame);
      drawn = frame;
      await io.drained();
      const live = await stillLives(session, stopped.signal);
      screen = await session.screen({ attributes: true });
      if (!live) break;
    }
  } finally {
    io.out(LEAVE_SCREEN);
    for (const signal of STOPPING) process.off(signal, stop);
  }
  return screen;
}

async function stillLives(session: SessionHandle, signal: AbortSignal): Promise<boolean> {
  try {
    const { status } = await session.wait({ timeoutMs: LOOK_EVERY_MS, signal });
    return status === "running";
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}

function frameOf(screen: Screen, name: string, io: Io): string {
  const { columns = io.columns, rows = 24 } = process.stdout;
  const shown = colouredRows(screen, columns);
  const { from, to } = windowOnto(screen, rows - 1);
  const lines = [...shown.slice(from, to), watchedFooter(name, screen, columns)];
  const cursor = screen.cursor.visible && screen.cursor.column < columns;
  const place = cursor ? `\x1b[${screen.cursor.row - from + 1};${screen.cursor.column + 1}H\x1b[?25h` : "\x1b[?25l";
  return `\x1b[?25l\x1b[H${lines.map((line) => `${line}\x1b[K`).join("\r\n")}\x1b[J${place}`;
}
