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
    all: "Show all sessions (default: only running sessions)",
    quiet: "Print only the IDs of sessions that this gateway started",
    limit: "N: Show only the N latest sessions",
    own: "Omit the sessions of other gateways in the fleet",
    agent: "NAME: Show only the sessions of this agent",
    json: "Print a JSON array",
  },
  sections: {
    Output: `When stdout is not a terminal, each session is one line of tab-separated columns without a header: ID, NAME,
      STATUS, EXIT, STARTED, duration in milliseconds, COMMAND, HOST (- for this machine).`,
  },
  examples: [
    ["List running sessions", "sallyport ps"],
    ["List the ten latest sessions, including finished ones", "sallyport ps -a --limit 10"],
    ["Stop all running sessions", "sallyport kill $(sallyport ps -q)"],
    [
      "Print the names of all failed sessions",
      `sallyport ps -a --json | jq -r '.[] | select(.status == "failed").name'`,
    ],
  ],
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
      // `--quiet` is meant for `kill` and `rm`, which must not affect the sessions of other gateways.
      const { sessions, warnings } = values.own || values.quiet ? own() : await allOf(gateway, query, limit);
      for (const warning of warnings) io.err(`${warning}\n`);
      if (values.quiet && !values.json) {
        io.out(sessions.map(({ id }) => `${id}\n`).join(""));
      } else {
        const columns = () => terminalColumns(sessions, { nowMs: Date.now(), columns: io.columns, color: io.color });
        const empty = values.all
          ? "No sessions."
          : "No running sessions. Use `sallyport ps -a` to show finished sessions.";
        printList(sessions, { columns, piped: PIPED_COLUMNS, empty }, invocation);
      }
      return 0;
    }),
};

const PAGE = 1000;

/** A fleet may have millions of sessions. More than this can be read page by page with the library or over HTTP. */
const MOST_OF_FLEET = 10_000;

/**
 * Returns the matching sessions, at most `limit`. Reads them page by page, because a fleet may have more sessions than
 * fit into one response.
 */
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

/** In a narrower terminal the duration is omitted, to leave room for the command. */
const WIDE = 100;

/**
 * Returns the columns for a terminal: short IDs, ages, and the command cut to the width. EXIT appears once a session
 * has ended.
 */
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
      ? {
          title: "TOOK",
          value: ({ durationMs }) => (durationMs === null ? "?" : formatDuration(durationMs)),
          align: "right",
        }
      : null,
    { title: "COMMAND", value: ({ command, args }) => commandLine(command, args), flexible: true },
  ];
  return columns.filter((column) => column !== null);
}

/** The columns for a pipe. Nothing is shortened. */
const PIPED_COLUMNS: Column<SessionInfo>[] = [
  { title: "ID", value: ({ id }) => id },
  { title: "NAME", value: ({ name }) => name },
  { title: "STATUS", value: ({ status }) => status },
  { title: "EXIT", value: exitWord },
  { title: "STARTED", value: ({ startedAt }) => startedAt },
  { title: "MS", value: ({ durationMs }) => (durationMs === null ? "-" : String(Math.round(durationMs))) },
  { title: "COMMAND", value: ({ command, args }) => commandLine(command, args) },
  { title: "HOST", value: ({ host }) => host ?? "-" },
];

/** Returns the exit code, the signal, or `-` for a running session. */
function exitWord({ exitCode, signal }: SessionInfo): string {
  return signal ?? (exitCode === null ? "-" : String(exitCode));
}

function paint(text: string, status: Status, color: boolean): string {
  const hue = STATUS_COLOR[status];
  return color && hue ? styleText(hue, text, { validateStream: false }) : text;
}
