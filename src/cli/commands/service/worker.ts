import { SallyportError } from "../../../core/error.ts";
import { needsFleet } from "../../../fleet/errors.ts";
import { type Command, type Invocation, UsageError } from "../../command.ts";
import { stateFolder } from "../../open.ts";
import { countOption, textOption, textOptions } from "../../options.ts";

const STOPPING = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const MOST_SLOTS = 10_000;

export const worker: Command = {
  name: "worker",
  summary: "Run commands for a fleet on this machine",
  usage: "sallyport worker --fleet URL [OPTIONS]",
  options: {
    as: { type: "string" },
    labels: { type: "string", multiple: true },
    slots: { type: "string" },
    workspaces: { type: "string" },
    "ship-logs": { type: "boolean" },
    replicas: { type: "string" },
  },
  help: {
    as: "NAME: this host's name in the fleet; default the machine's",
    labels: "K=V,…: what requests may ask for, such as gpu=yes; may be given several times",
    slots: "N: commands at a time; default four for each processor",
    workspaces: "DIR: where folders for workspaces are made; default beside the state folder",
    "ship-logs": "put logs by on the servers when a session ends, so that they outlive this machine",
    replicas: "N: on how many servers what is kept there is; default three where there are three",
  },
  examples: [
    "sallyport worker --fleet nats://10.0.0.1:4222",
    "sallyport worker --fleet nats://10.0.0.1:4222 --labels gpu=yes,disk=fast --slots 8 --workspaces /srv/work",
  ],
  notes: `It takes work while it has a free slot, and judges and confines every command by this machine's own
configuration. SIGTERM ends the worker and not the commands: they go on, and the next worker here finds them.`,
  run: async (invocation) => {
    const { values, io } = invocation;
    const options = await optionsOf(values);
    const { Worker } = await import("../../../worker/worker.ts");
    const started = await Worker.start(options);
    io.err(`${started.host} takes work from the fleet ${started.connection.fleet}.\n`);
    await new Promise<void>((resolve) => {
      for (const signal of STOPPING) process.once(signal, () => resolve());
    });
    await started.close();
    return 0;
  },
};

async function optionsOf(values: Invocation["values"]) {
  const { fleetFromEnvironment } = await import("../../../fleet/url.ts");
  const { loadConfig } = await import("../../../config/load.ts");
  const fleet = fleetFromEnvironment() ?? loadConfig({ workspace: process.cwd() }).settings.fleet;
  if (!fleet) throw new SallyportError("InvalidRequest", ...needsFleet("worker"));
  const state = stateFolder(values);
  const as = textOption(values, "as");
  const slots = countOption(values, "slots");
  if (slots !== undefined && (slots < 1 || slots > MOST_SLOTS)) {
    throw new UsageError(`\`--slots\` must be 1 to ${MOST_SLOTS}; received \`${slots}\``);
  }
  const replicas = countOption(values, "replicas");
  const { workspace, sticky, claimWithinMs, ...place } = fleet;
  return {
    fleet: { ...place, ...(as === undefined ? {} : { as }) },
    state,
    workspaces: textOption(values, "workspaces") ?? `${state}-workspaces`,
    labels: labelsOf(textOptions(values, "labels")),
    ...(slots === undefined ? {} : { slots }),
    ...(replicas === undefined ? {} : { replicas }),
    shipLogs: values["ship-logs"] === true,
  };
}

function labelsOf(given: string[]): Record<string, string> {
  const labels: Record<string, string> = {};
  for (const text of given.flatMap((each) => each.split(","))) {
    const [, key, value] = /^([A-Za-z0-9_-]{1,63})=([A-Za-z0-9_-]{1,63})$/.exec(text.trim()) ?? [];
    if (!key || !value) throw new UsageError(`\`--labels\` must be like gpu=yes,disk=fast; received \`${text}\``);
    labels[key] = value;
  }
  return labels;
}
