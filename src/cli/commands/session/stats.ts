import { setTimeout as sleep } from "node:timers/promises";
import type { SessionHandle } from "../../../core/gateway.ts";
import type { Gateway } from "../../../gateway/gateway.ts";
import { alignedTable } from "../../../text/table.ts";
import { type Command, type Invocation, type Io, UsageError } from "../../command.ts";
import { withGateway } from "../../open.ts";
import { printList } from "../../table.ts";
import { localTerminal } from "../../terminal/tty.ts";
import type { UsageRow } from "./usage.ts";
import { USAGE_COLUMNS, USAGE_PIPED_COLUMNS, UsageMeter, watchUsage } from "./usage.ts";

const ONCE_MS = 250;

export const stats: Command = {
  name: "stats",
  summary: "Show live resource usage of running sessions",
  usage: "sallyport stats [OPTIONS] [SESSION...]",
  description: `
    Shows CPU, memory, processes and I/O of each session, including its child processes. On a terminal, the view
    updates every second until all sessions have ended.`,
  options: { watch: { type: "boolean", short: "w" }, once: { type: "boolean" } },
  help: {
    watch: "Keep the view open when no session is running",
    once: "Print one measurement and exit (default when stdout is not a terminal)",
    json: "Print one measurement as JSON, with all processes",
  },
  sections: {
    Keys: [
      ["c m t w n", "Sort by CPU, memory, CPU time, bytes written or name"],
      ["j k", "Scroll by one line (also: arrow keys)"],
      ["space b", "Scroll by one page (also: PageDown and PageUp)"],
      ["q", "Quit"],
    ],
    Output: `When stdout is not a terminal, each session is one line of tab-separated columns without a header: ID, NAME,
      STATUS, CPU, CPU time in milliseconds, memory in bytes, peak memory in bytes, processes, bytes read, bytes
      written.`,
  },
  examples: [
    ["Show all running sessions", "sallyport stats"],
    ["Print one measurement of one session", "sallyport stats --once web"],
    ["Print the memory usage of each session in bytes", "sallyport stats --json | jq '.[].memoryBytes'"],
  ],
  run: (invocation) =>
    withGateway(invocation, async (gateway) => {
      const { values, io } = invocation;
      const references = [...invocation.positionals, ...(invocation.rest ?? [])];
      const wanted = !values.once && !values.json;
      if (values.watch) assertScreen(invocation, wanted);
      if (wanted && localTerminal(io)) await showLive(gateway, references, values.watch === true, io);
      else await showOnce(gateway, references, invocation);
      return 0;
    }),
};

async function showOnce(gateway: Gateway, references: string[], invocation: Invocation): Promise<void> {
  const meter = new UsageMeter();
  const sessions = chosen(gateway, references);
  meter.measure(sessions);
  if (sessions.length > 0) await sleep(ONCE_MS);
  const rows = meter.measure(sessions);
  const format = { columns: () => USAGE_COLUMNS, piped: USAGE_PIPED_COLUMNS, empty: "No running sessions." };
  printList(rows, format, invocation);
}

/** Shows the live view, and leaves the last measurement on the terminal. */
async function showLive(gateway: Gateway, references: string[], stay: boolean, io: Io): Promise<void> {
  if (!stay && chosen(gateway, references).length === 0) return io.err("No running sessions.\n");
  const nothing = (rows: UsageRow[]) => !rows.some(({ processCount }) => processCount > 0);
  const over = stay ? () => false : nothing;
  const rows = await watchUsage(() => chosen(gateway, references), over, io);
  if (rows.length > 0) io.out(alignedTable(USAGE_COLUMNS, rows, io.columns));
}

function assertScreen({ values, io }: Invocation, wanted: boolean): void {
  if (!wanted) throw new UsageError(`\`--watch\` cannot be used with \`--${values.once ? "once" : "json"}\``);
  if (!localTerminal(io)) throw new UsageError("`--watch` requires a terminal; use `--once` to print one measurement");
}

function chosen(gateway: Gateway, references: string[]): SessionHandle[] {
  if (references.length > 0) return references.map((reference) => gateway.session(reference));
  const query = { status: "running" as const };
  return gateway.list({ ...query, limit: gateway.count(query) }).map(({ id }) => gateway.session(id));
}
