import { writeFileSync } from "node:fs";
import type { SessionHandle } from "../../../core/gateway.ts";
import type { Screen } from "../../../core/terminal.ts";
import { colouredRows } from "../../../session/terminal/render/ansi.ts";
import type { Command, Invocation, Io } from "../../command.ts";
import { withGateway } from "../../open.ts";
import { printJson } from "../../print-json.ts";
import { UsageError } from "../../usage-error.ts";
import { watchScreen } from "../../watch-screen.ts";

const STDOUT = "-";

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
      const session = await gateway.find(onlyReference(invocation));
      const { values, io } = invocation;
      if (values.watch) await watch(session, invocation);
      else if (typeof values.svg === "string") await draw(session, values.svg, io);
      else if (values.json) printJson(await session.screen({ attributes: true, ...scrollback(invocation) }), io);
      else print(await session.screen({ attributes: io.color, ...scrollback(invocation) }), io);
      return 0;
    }),
};

function onlyReference({ positionals, rest }: Invocation): string {
  const [reference, ...more] = [...positionals, ...(rest ?? [])];
  if (reference === undefined) throw new UsageError("which session? Give an id, the beginning of one, or a name");
  if (more.length > 0) throw new UsageError(`one session at a time; received \`${more[0]}\` as well`);
  return reference;
}

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
  const rows = io.color ? colouredRows(screen, Math.max(io.columns, 1)) : screen.lines;
  const last = screen.lines.findLastIndex((line) => line !== "");
  for (const line of [...(screen.scrollback ?? []), ...rows.slice(0, last + 1)]) io.out(`${line}\n`);
}
