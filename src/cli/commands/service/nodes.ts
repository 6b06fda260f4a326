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
  summary: "List the workers of a fleet, drain them and take them back",
  usage: `sallyport nodes [list]
       sallyport nodes drain HOST…
       sallyport nodes return HOST…`,
  options: {},
  help: { json: "print JSON" },
  examples: ["sallyport nodes", "sallyport nodes drain web-1", "sallyport nodes return web-1"],
  notes: `A drained worker takes no new work, also after a restart; what runs there runs on, and is answered for.
Piped, \`list\` prints HOST, STATE, SLOTS, RUNNING, LOAD, STARTED, VERSION, LABELS with tabs between.`,
  run: (invocation) => {
    const [action = "list", ...hosts] = [...invocation.positionals, ...(invocation.rest ?? [])];
    if (action === "list") {
      if (hosts[0] !== undefined) throw new UsageError(`\`nodes list\` takes no \`${hosts[0]}\``);
      return withNodes(async (all) => print(invocation, await all.list()));
    }
    if (action !== "drain" && action !== "return") {
      throw new UsageError(`\`nodes\` knows list, drain and return; received \`${action}\``);
    }
    if (hosts.length === 0) throw new UsageError(`which worker? Give its name: \`nodes ${action} HOST\``);
    return withNodes(async (all) => {
      const changed: WorkerInfo[] = [];
      for (const host of hosts) changed.push(await all[action](host));
      return print(invocation, changed);
    });
  },
};

function print(invocation: Invocation, found: WorkerInfo[]): number {
  const empty = "No worker is in the fleet; `sallyport worker` on a machine makes it one.";
  printList(found, { columns: () => nodeColumns(Date.now()), piped: PIPED_NODE_COLUMNS, empty }, invocation);
  return 0;
}

/** For persons only: an agent does not decide which machines there are (promise 7). */
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

/** For a person. */
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

/** For a program. */
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
  if (trouble) return `trouble: ${shownLine(trouble)}`;
  if (draining) return running === 0 ? "drained" : "draining";
  return free === 0 ? "full" : "ready";
}

function labelText({ labels }: WorkerInfo): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  return pairs.length === 0 ? "-" : shownLine(pairs.sort().join(","));
}
