import { SallyportError } from "../../../core/error.ts";
import { needsFleet } from "../../../fleet/errors.ts";
import type { Nodes } from "../../../fleet/nodes.ts";
import type { WorkerInfo } from "../../../fleet/wire.ts";
import { formatAge } from "../../../text/format.ts";
import type { Column } from "../../../text/table.ts";
import { shownLine } from "../../../text/visible.ts";
import { type Command, type Invocation, UsageError } from "../../command.ts";
import { assertPerson } from "../../person.ts";
import { printList } from "../../table.ts";

export const nodes: Command = {
  name: "nodes",
  summary: "List, drain and resume the workers of a fleet",
  usage: `sallyport nodes [list]
       sallyport nodes drain HOST...
       sallyport nodes return HOST...`,
  description: `
    A drained worker accepts no new jobs, even after a restart. Its running commands continue.`,
  actions: {
    list: "List workers (default)",
    drain: "Stop assigning jobs to workers",
    return: "Resume assigning jobs to drained workers",
  },
  options: {},
  help: { json: "Print JSON" },
  sections: {
    Output: `When stdout is not a terminal, each worker is one line of tab-separated columns without a header: HOST, STATE,
      SLOTS, RUNNING, LOAD, STARTED, VERSION, LABELS.`,
  },
  examples: [
    ["List workers", "sallyport nodes"],
    ["Drain a worker before maintenance", "sallyport nodes drain web-1"],
    ["Return it to service", "sallyport nodes return web-1"],
  ],
  run: (invocation) => {
    const [action = "list", ...hosts] = [...invocation.positionals, ...(invocation.rest ?? [])];
    if (action === "list") {
      if (hosts[0] !== undefined) throw new UsageError(`unexpected argument \`${hosts[0]}\` for \`nodes list\``);
      return withNodes(async (all) => print(invocation, await all.list()));
    }
    if (action !== "drain" && action !== "return") {
      throw new UsageError(`unknown subcommand \`nodes ${action}\`; use list, drain or return`);
    }
    if (hosts.length === 0) throw new UsageError(`no worker given; use \`nodes ${action} HOST\``);
    return withNodes(async (all) => {
      const changed: WorkerInfo[] = [];
      for (const host of hosts) changed.push(await all[action](host));
      return print(invocation, changed);
    });
  },
};

function print(invocation: Invocation, found: WorkerInfo[]): number {
  const empty = "No workers in the fleet. Start one with `sallyport worker`.";
  printList(found, { columns: () => nodeColumns(Date.now()), piped: PIPED_NODE_COLUMNS, empty }, invocation);
  return 0;
}

/**
 * Calls `use` with the workers of the fleet. Throws unless a person runs the command, because agents must not choose
 * the machines of the fleet (invariant 7).
 */
async function withNodes(use: (all: Nodes) => Promise<number>): Promise<number> {
  await assertPerson();
  const [{ fleetFromEnvironment }, { loadConfig }] = await Promise.all([
    import("../../../fleet/url.ts"),
    import("../../../config/load.ts"),
  ]);
  const fleet = fleetFromEnvironment() ?? loadConfig({ workspace: process.cwd() }).settings.fleet;
  if (!fleet) throw new SallyportError("InvalidRequest", ...needsFleet("nodes"));
  const [{ openConnection }, { Nodes }] = await Promise.all([
    import("../../../fleet/connection.ts"),
    import("../../../fleet/nodes.ts"),
  ]);
  const link = await openConnection(fleet, "gateway");
  try {
    return await use(new Nodes(link));
  } finally {
    await link.nc.close();
  }
}

/** Returns the columns for a terminal. */
function nodeColumns(nowMs: number): Column<WorkerInfo>[] {
  return [
    { title: "HOST", value: ({ host }) => shownLine(host) },
    { title: "STATE", value: stateOf },
    { title: "SLOTS", value: ({ slots, running }) => `${running}/${slots}`, align: "right" },
    { title: "LOAD", value: ({ load }) => load.toFixed(2), align: "right" },
    { title: "UP", value: ({ startedMs }) => formatAge(nowMs - startedMs) },
    { title: "VERSION", value: ({ release }) => shownLine(release) },
    { title: "LABELS", value: labelText, flexible: true },
  ];
}

/** The columns for a pipe. */
const PIPED_NODE_COLUMNS: Column<WorkerInfo>[] = [
  { title: "HOST", value: ({ host }) => shownLine(host) },
  { title: "STATE", value: stateOf },
  { title: "SLOTS", value: ({ slots }) => String(slots) },
  { title: "RUNNING", value: ({ running }) => String(running) },
  { title: "LOAD", value: ({ load }) => load.toFixed(2) },
  { title: "STARTED", value: ({ startedMs }) => new Date(startedMs).toISOString() },
  { title: "VERSION", value: ({ release }) => shownLine(release) },
  { title: "LABELS", value: labelText },
];

function stateOf({ draining, running, free, trouble }: WorkerInfo): string {
  if (trouble) return `error: ${shownLine(trouble)}`;
  if (draining) return running === 0 ? "drained" : "draining";
  return free === 0 ? "full" : "ready";
}

function labelText({ labels }: WorkerInfo): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  return pairs.length === 0 ? "-" : shownLine(pairs.sort().join(","));
}
