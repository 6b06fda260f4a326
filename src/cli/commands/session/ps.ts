import { styleText } from "node:util";
import type { ListQuery } from "../../../core/gateway.ts";
import type { Status } from "../../../core/result.ts";
import type { SessionInfo } from "../../../core/session.ts";
import { listingTruncated } from "../../../fleet/errors.ts";
import type { Gateway } from "../../../gateway/gateway.ts";
import { commandLine } from "../../../text/command-line.ts";
import { formatAge, formatDuration } from "../../../text/format.ts";
import type { Column } from "../../../text/table.ts";
import type { Command } from "../../command.ts";
import { withGateway } from "../../open.ts";
import { countOption, textOption } from "../../options.ts";
import { printList, shortIds } from "../../table.ts";

export const ps: Command = {
  name: "ps",
  summary: "List sessions",
  usage: "sallyport ps [OPTIONS]",
  options: {
    all: { type: "boolean", short: "a" },
    quiet: { type: "boolean", short: "q" },
    limit: { type: "string" },
    own: { type: "boolean" },
  },
  help: {
    all: "show finished sessions too, not only those still running",
    quiet: "print only ids, of what this gateway started: for kill and rm",
    limit: "N: show at most the N latest",
    own: "with a fleet: only what this gateway started, not what others have run there",
    agent: "NAME: show only this agent's sessions",
  },
  examples: [
    "sallyport ps",
    "sallyport ps -a --limit 10",
    "sallyport kill $(sallyport ps -q)",
    "sallyport ps -a --json",
  ],
  notes: `Piped, there are no titles and tabs stand between the columns:
ID, NAME, STATUS, EXIT, STARTED, MILLISECONDS, COMMAND, HOST (- is this machine).`,
  run: (invocation) =>
    withGateway(invocation, async (gateway) => {
      const { values, io } = invocation;
      const agent = textOption(values, "agent");
      const query: ListQuery = {
        ...(values.all ? {} : { live: true }),
        ...(agent ? { agent } : {}),
      };
      const limit = countOption(values, "limit");
      const own = () => ({ sessions: gateway.list({ ...query, limit: limit ?? gateway.count(query) }), warnings: [] });
      // What is meant to be ended or removed is never what others have run.
      const { sessions, warnings } = values.own || values.quiet ? own() : await allOf(gateway, query, limit);
      for (const warning of warnings) io.err(`${warning}\n`);
      if (values.quiet && !values.json) {
        io.out(sessions.map(({ id }) => `${id}\n`).join(""));
      } else {
        const columns = () => terminalColumns(sessions, { nowMs: Date.now(), columns: io.columns, color: io.color });
        const empty = values.all
          ? "No sessions."
          : "Nothing is running. `sallyport ps -a` shows finished sessions too.";
        printList(sessions, { columns, piped: PIPED_COLUMNS, empty }, invocation);
      }
      return 0;
    }),
};

const PAGE = 1000;

/** A fleet remembers millions: whoever wants so many pages through them with the library or over HTTP. */
const MOST_OF_FLEET = 10_000;

/** Page by page: a fleet may have more sessions than one answer holds. */
async function allOf(gateway: Gateway, query: ListQuery, limit = Number.POSITIVE_INFINITY) {
  const sessions: SessionInfo[] = [];
  const warnings = new Set<string>();
  let before: string | null = null;
  do {
    const page = { limit: Math.min(PAGE, limit - sessions.length), ...(before === null ? {} : { before }) };
    const found = await gateway.sessions({ ...query, ...page });
    sessions.push(...found.sessions);
    for (const warning of found.warnings) warnings.add(warning);
    before = found.next;
    if (found.fleet && before !== null && sessions.length >= MOST_OF_FLEET)
      warnings.add(listingTruncated(sessions.length));
    if (found.fleet && sessions.length >= MOST_OF_FLEET) break;
  } while (before !== null && sessions.length < limit);
  return { sessions, warnings };
}

const STATUS_COLOR: Partial<Record<Status, "green" | "yellow" | "red" | "gray">> = {
  running: "green",
  pending: "yellow",
  completed: "gray",
  timed_out: "yellow",
  killed: "yellow",
  failed: "red",
  lost: "red",
  blocked: "red",
  denied: "red",
};

/** Below this the command would hardly be seen; how long it took is then left to `inspect`. */
const WIDE = 100;

/** For a person: short ids, ages, and the command cut to what fits. While all are running there is no column for the end. */
function terminalColumns(
  sessions: SessionInfo[],
  screen: { nowMs: number; columns: number; color: boolean },
): Column<SessionInfo>[] {
  const shorten = shortIds(sessions.map(({ id }) => id));
  const someEnded = sessions.some(({ status }) => status !== "running");
  const elsewhere = sessions.some(({ host }) => host !== null);
  const columns: (Column<SessionInfo> | null)[] = [
    { title: "ID", value: ({ id }) => shorten(id) },
    { title: "NAME", value: ({ name }) => name, flexible: true },
    { title: "STATUS", value: ({ status }) => status, style: (text, { status }) => paint(text, status, screen.color) },
    elsewhere ? { title: "HOST", value: ({ host }) => host ?? "-" } : null,
    someEnded ? { title: "EXIT", value: (info) => exitWord(info).replace(/^SIG/, "") } : null,
    { title: "AGE", value: ({ startedAt }) => formatAge(screen.nowMs - Date.parse(startedAt)), align: "right" },
    someEnded && screen.columns >= WIDE
      ? { title: "TOOK", value: ({ durationMs }) => formatDuration(durationMs), align: "right" }
      : null,
    { title: "COMMAND", value: ({ command, args }) => commandLine(command, args), flexible: true },
  ];
  return columns.filter((column) => column !== null);
}

/** For a program: everything whole. */
const PIPED_COLUMNS: Column<SessionInfo>[] = [
  { title: "ID", value: ({ id }) => id },
  { title: "NAME", value: ({ name }) => name },
  { title: "STATUS", value: ({ status }) => status },
  { title: "EXIT", value: exitWord },
  { title: "STARTED", value: ({ startedAt }) => startedAt },
  { title: "MS", value: ({ durationMs }) => String(Math.round(durationMs)) },
  { title: "COMMAND", value: ({ command, args }) => commandLine(command, args) },
  { title: "HOST", value: ({ host }) => host ?? "-" },
];

/** How it ended in one word: the exit code, the signal, or `-` while it has not. */
function exitWord({ exitCode, signal }: SessionInfo): string {
  return signal ?? (exitCode === null ? "-" : String(exitCode));
}

function paint(text: string, status: Status, color: boolean): string {
  const hue = STATUS_COLOR[status];
  return color && hue ? styleText(hue, text, { validateStream: false }) : text;
}
