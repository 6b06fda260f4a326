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
  summary: "Show what running sessions consume, live",
  usage: "sallyport stats [OPTIONS] [SESSION…]",
  options: { watch: { type: "boolean", short: "w" }, once: { type: "boolean" } },
  help: {
    watch: "stay on the screen also when nothing runs, sort and scroll by keys; q leaves",
    once: "print one measurement and end, as when piped",
    json: "print one measurement as JSON, with every process",
  },
  examples: [
    "sallyport stats",
    "sallyport stats --watch",
    "sallyport stats --once web",
    "sallyport stats --json | jq '.[].memoryBytes'",
  ],
  notes: `Piped, there are no titles and tabs stand between the columns:
ID, NAME, STATUS, CPU, CPU MILLISECONDS, MEMORY, PEAK MEMORY, PROCESSES, READ, WRITTEN.`,
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
  const format = { columns: () => USAGE_COLUMNS, piped: USAGE_PIPED_COLUMNS, empty: "Nothing is running." };
  printList(rows, format, invocation);
}

/** What was seen last is left on the terminal. */
async function showLive(gateway: Gateway, references: string[], stay: boolean, io: Io): Promise<void> {
  if (!stay && chosen(gateway, references).length === 0) return io.err("Nothing is running.\n");
  const nothing = (rows: UsageRow[]) => !rows.some(({ processCount }) => processCount > 0);
  const over = stay ? () => false : nothing;
  const rows = await watchUsage(() => chosen(gateway, references), over, io);
  if (rows.length > 0) io.out(alignedTable(USAGE_COLUMNS, rows, io.columns));
}

function assertScreen({ values, io }: Invocation, wanted: boolean): void {
  if (!wanted) throw new UsageError(`\`--watch\` and \`--${values.once ? "once" : "json"}\` do not go together`);
  if (!localTerminal(io)) throw new UsageError("`--watch` needs a terminal; `stats --once` prints one measurement");
}

function chosen(gateway: Gateway, references: string[]): SessionHandle[] {
  if (references.length > 0) return references.map((reference) => gateway.session(reference));
  const query = { status: "running" as const };
  return gateway.list({ ...query, limit: gateway.count(query) }).map(({ id }) => gateway.session(id));
}
