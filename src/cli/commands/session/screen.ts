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
  summary: "Show the terminal screen of a session",
  usage: "sallyport screen [OPTIONS] SESSION",
  description: `
    Prints the screen of a session that runs on a terminal. For a finished session, prints its last screen. The screen
    is rendered by Sallyport: escape sequences from the program never reach your terminal.`,
  options: {
    watch: { type: "boolean", short: "w" },
    scrollback: { type: "boolean" },
    svg: { type: "string" },
  },
  help: {
    watch: "Follow the screen until the session ends or you press Ctrl-C",
    scrollback: "Also print the retained lines that scrolled off the top",
    svg: "FILE: Write the screen to FILE as an SVG image (- for stdout)",
    json: "Print the screen as JSON, with cursor, title, modes and cell attributes",
  },
  examples: [
    ["Print the current screen", "sallyport screen editor"],
    ["Follow the screen", "sallyport screen --watch editor"],
    ["Print the lines of the screen from JSON", "sallyport screen --json editor | jq -r '.lines[]'"],
    ["Save the screen as an image", "sallyport screen --svg editor.svg editor"],
  ],
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
  if (other) throw new UsageError(`\`--watch\` cannot be used with \`--${other}\``);
  if (!io.isTTY.stdout) throw new UsageError("`--watch` requires a terminal; use `sallyport logs -f` in a pipe");
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

/** Prints a screen without the blank rows at its end. */
function print(screen: Screen, io: Io): void {
  const rows = io.color ? ansiRows(screen, Math.max(io.columns, 1)) : screen.lines;
  const last = screen.lines.findLastIndex((line) => line !== "");
  for (const line of [...(screen.scrollback ?? []), ...rows.slice(0, last + 1)]) io.out(`${line}\n`);
}

/** How often a watched screen is redrawn. */
const REDRAW_MS = 80;

/**
 * Shows the screen of a session until it ends or the user presses Ctrl-C, and returns the last screen. Only cells are
 * drawn: escape sequences from the program never reach this terminal.
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
      const live = await isRunning(session, stopped.signal);
      screen = await session.screen({ attributes: true });
      if (!live) break;
    }
  } finally {
    io.out(LEAVE_SCREEN);
    for (const signal of STOPPING) process.off(signal, stop);
  }
  return screen;
}

async function isRunning(session: SessionHandle, signal: AbortSignal): Promise<boolean> {
  try {
    const { status } = await session.wait({ timeoutMs: REDRAW_MS, signal });
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

/** Returns the status line below a watched screen. The title contains no control characters. */
function watchedFooter(name: string, { columns, rows, title }: Screen, width: number): string {
  const titled = title === "" ? "" : ` · ${title}`;
  const text = fit(` ${name} · ${columns}x${rows}${titled} · Ctrl-C stops watching, not the session `, width);
  return styleText("inverse", text, { validateStream: false });
}
