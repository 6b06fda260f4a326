import { writeFileSync } from "node:fs";
import { styleText } from "node:util";
import type { SessionHandle } from "../../../core/gateway.ts";
import type { Screen } from "../../../core/terminal.ts";
import { ansiRows, visibleRows } from "../../../session/terminal/render/ansi.ts";
import { fit } from "../../../text/width.ts";
import { type Command, type Invocation, type Io, UsageError } from "../../command.ts";
import { printJson } from "../../io.ts";
import { withGateway } from "../../open.ts";
import { ENTER_SCREEN, LEAVE_SCREEN, STOPPING } from "../../terminal/full-screen.ts";
import { onlySession } from "./session-arguments.ts";

export const screen: Command = {
  name: "screen",
  summary: "Show what is on the terminal of a session",
  usage: "sallyport screen [OPTIONS] SESSION",
  options: {
    watch: { type: "boolean", short: "w" },
    scrollback: { type: "boolean" },
    svg: { type: "string" },
  },
  help: {
    watch: "follow it live until the session has ended, or Ctrl-C",
    scrollback: "also what scrolled off above, as far as it is kept",
    svg: "FILE: write it as an SVG image (- is stdout)",
    json: "print it with cursor, title, modes and the look of every cell",
  },
  examples: [
    "sallyport screen editor",
    "sallyport screen --watch editor",
    "sallyport screen --json editor | jq -r '.lines[]'",
    "sallyport screen --svg editor.svg editor",
  ],
  notes: `The screen is drawn anew from what the session wrote: nothing of it reaches your terminal
as it was sent. A session that has ended is shown as it was last.`,
  run: (invocation) =>
    withGateway(invocation, async (gateway) => {
      const session = await gateway.find(onlySession(invocation));
      const { values, io } = invocation;
      if (values.watch) await watch(session, invocation);
      else if (typeof values.svg === "string") await draw(session, values.svg, io);
      else if (values.json) printJson(await session.screen({ attributes: true, ...scrollback(invocation) }), io);
      else print(await session.screen({ attributes: io.color, ...scrollback(invocation) }), io);
      return 0;
    }),
};

const STDOUT = "-";

function scrollback({ values }: Invocation): { scrollback?: true } {
  return values.scrollback ? { scrollback: true } : {};
}

async function watch(session: SessionHandle, { values, io }: Invocation): Promise<void> {
  const other = ["json", "svg", "scrollback"].find((name) => values[name] !== undefined);
  if (other) throw new UsageError(`\`--watch\` and \`--${other}\` do not go together`);
  if (!io.isTTY.stdout) throw new UsageError("`--watch` needs a terminal; `logs -f` follows in a pipe");
  print(await watchScreen(session, io), io);
}

async function draw(session: SessionHandle, file: string, io: Io): Promise<void> {
  const picture = await session.picture("svg");
  if (file === STDOUT) return io.out(picture);
  try {
    writeFileSync(file, picture);
  } catch (error) {
    throw new UsageError(`cannot write \`${file}\`: ${(error as Error).message}`);
  }
}

/** Blank rows at the end are not printed. */
function print(screen: Screen, io: Io): void {
  const rows = io.color ? ansiRows(screen, Math.max(io.columns, 1)) : screen.lines;
  const last = screen.lines.findLastIndex((line) => line !== "");
  for (const line of [...(screen.scrollback ?? []), ...rows.slice(0, last + 1)]) io.out(`${line}\n`);
}

/** Often enough to look live. */
const LOOK_EVERY_MS = 80;

/**
 * Shows a session's screen in place of one's own until it has ended or the person has seen enough (Ctrl-C). Only cells
 * are drawn, by sequences of our own: what the program sends never reaches this terminal. Resolves with the last screen.
 */
async function watchScreen(session: SessionHandle, io: Io): Promise<Screen> {
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
  const shown = ansiRows(screen, columns);
  const { from, to } = visibleRows(screen, rows - 1);
  const lines = [...shown.slice(from, to), watchedFooter(name, screen, columns)];
  const cursor = screen.cursor.visible && screen.cursor.column < columns;
  const place = cursor ? `\x1b[${screen.cursor.row - from + 1};${screen.cursor.column + 1}H\x1b[?25h` : "\x1b[?25l";
  return `\x1b[?25l\x1b[H${lines.map((line) => `${line}\x1b[K`).join("\r\n")}\x1b[J${place}`;
}

/** The line below a watched screen. The title was made safe when it was read. */
function watchedFooter(name: string, { columns, rows, title }: Screen, width: number): string {
  const titled = title === "" ? "" : ` · ${title}`;
  const text = fit(` ${name} · ${columns} by ${rows}${titled} · Ctrl-C ends the watching, not the session `, width);
  return styleText("inverse", text, { validateStream: false });
}
