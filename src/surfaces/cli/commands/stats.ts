import { setTimeout as sleep } from "node:timers/promises";
import type { SessionHandle } from "../../../contract/gateway.ts";
import type { Gateway } from "../../../gateway/gateway.ts";
import { alignedTable, tabbedTable } from "../../../present/table.ts";
import { USAGE_COLUMNS, USAGE_PIPED_COLUMNS } from "../../../present/usage-table.ts";
import type { Command, Io } from "../command.ts";
import { printJson } from "../print-json.ts";
import { UsageMeter } from "../usage-meter.ts";
import { withGateway } from "../with-gateway.ts";

const ONCE_MS = 250;
const LIVE_MS = 1000;

export const stats: Command = {
  name: "stats",
  summary: "Show what running sessions consume, live",
  usage: "sallyport stats [OPTIONS] [SESSION…]",
  options: { once: { type: "boolean" } },
  help: {
    once: "print one measurement and end, as when piped",
    json: "print one measurement as JSON, with every process",
  },
  examples: ["sallyport stats", "sallyport stats --once web", "sallyport stats --json | jq '.[].memoryBytes'"],
  notes: `Piped, there are no titles and tabs stand between the columns:
ID, NAME, STATUS, CPU, CPU MILLISECONDS, MEMORY, PEAK MEMORY, PROCESSES, READ, WRITTEN.`,
  run: (invocation) =>
    withGateway(invocation, async (gateway) => {
      const { values, io } = invocation;
      const references = [...invocation.positionals, ...(invocation.rest ?? [])];
      const live = io.isTTY.stdout && !values.once && !values.json;
      if (live) await showLive(gateway, references, io);
      else await showOnce(gateway, references, values.json === true, io);
      return 0;
    }),
};

async function showOnce(gateway: Gateway, references: string[], json: boolean, io: Io): Promise<void> {
  const meter = new UsageMeter();
  const sessions = chosen(gateway, references);
  meter.measure(sessions);
  if (sessions.length > 0) await sleep(ONCE_MS);
  const rows = meter.measure(sessions);
  if (json) printJson(rows, io);
  else if (!io.isTTY.stdout) io.out(tabbedTable(USAGE_PIPED_COLUMNS, rows));
  else if (rows.length > 0) io.out(alignedTable(USAGE_COLUMNS, rows, io.columns));
  else io.err("Nothing is running.\n");
}

/** Redraws in place until everything has ended or the person has seen enough. */
async function showLive(gateway: Gateway, references: string[], io: Io): Promise<void> {
  const meter = new UsageMeter();
  let drawn = 0;
  let rows = meter.measure(chosen(gateway, references));
  for (let pause = ONCE_MS; rows.some(({ processCount }) => processCount > 0); pause = LIVE_MS) {
    await sleep(pause);
    rows = meter.measure(chosen(gateway, references));
    // A table taller than the screen could not be redrawn in place.
    const table = alignedTable(USAGE_COLUMNS, rows.slice(0, (process.stdout.rows ?? 24) - 2), io.columns);
    io.out(`${drawn > 0 ? `\x1b[${drawn}A\x1b[J` : ""}${table}`);
    drawn = table.split("\n").length - 1;
    await io.drained();
  }
  if (drawn === 0) io.err("Nothing is running.\n");
}

function chosen(gateway: Gateway, references: string[]): SessionHandle[] {
  if (references.length > 0) return references.map((reference) => gateway.session(reference));
  const query = { status: "running" as const };
  return gateway.list({ ...query, limit: gateway.count(query) }).map(({ id }) => gateway.session(id));
}
