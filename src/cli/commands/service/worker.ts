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
  description: `
    Accepts jobs from a fleet while a slot is free. Each command is checked and sandboxed according to the
    configuration of this machine. SIGTERM stops the worker but not its commands: the next worker on this machine takes
    them over if it starts at once. Otherwise their sessions are lost; drain the worker before a longer stop.`,
  options: {
    labels: { type: "string", multiple: true },
    slots: { type: "string" },
    as: { type: "string" },
    workspaces: { type: "string" },
    "ship-logs": { type: "boolean" },
    replicas: { type: "string" },
  },
  help: {
    labels: "KEY=VALUE,...: Labels by which requests can select this worker, for example gpu=yes; repeatable",
    slots: "N: Maximum number of concurrent commands (default: 4 per processor)",
    as: "NAME: Host name in the fleet (default: the host name of this machine)",
    workspaces: "DIR: Folder in which workspaces are created (default: next to the state folder)",
    "ship-logs":
      "Upload the log of each ended session to the NATS servers, so that it remains available when this machine is offline",
    replicas: "N: Number of servers that store each stream (default: 3 in a cluster, otherwise 1)",
  },
  examples: [
    ["Join a fleet", "sallyport worker --fleet nats://10.0.0.1:4222"],
    [
      "Join with labels, eight slots and a workspace folder",
      "sallyport worker --fleet nats://10.0.0.1:4222 --labels gpu=yes,disk=fast --slots 8 --workspaces /srv/work",
    ],
  ],
  run: async (invocation) => {
    const { values, io } = invocation;
    const options = await optionsOf(values);
    const { Worker } = await import("../../../worker/worker.ts");
    const started = await Worker.start(options);
    io.err(`Worker ${started.host} is accepting jobs from fleet ${started.connection.fleet}.\n`);
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
  const { slots, replicas, labels } = workerSettings(values);
  const { workspace, sticky, claimWithinMs, ...place } = fleet;
  return {
    fleet: { ...place, ...(as === undefined ? {} : { as }) },
    state,
    workspaces: textOption(values, "workspaces") ?? `${state}-workspaces`,
    labels,
    ...(slots === undefined ? {} : { slots }),
    ...(replicas === undefined ? {} : { replicas }),
    shipLogs: values["ship-logs"] === true,
  };
}

/** Returns the options that have a format. Throws for those that are not valid. */
export function workerSettings(values: Invocation["values"]) {
  const slots = countOption(values, "slots");
  if (slots !== undefined && (slots < 1 || slots > MOST_SLOTS)) {
    throw new UsageError(`\`--slots\` must be 1 to ${MOST_SLOTS}; received \`${slots}\``);
  }
  const labels = labelsOf(textOptions(values, "labels"));
  return { slots, replicas: countOption(values, "replicas"), labels };
}

function labelsOf(given: string[]): Record<string, string> {
  const labels: Record<string, string> = {};
  for (const text of given.flatMap((each) => each.split(","))) {
    const [, key, value] = /^([A-Za-z0-9_-]{1,63})=([A-Za-z0-9_-]{1,63})$/.exec(text.trim()) ?? [];
    if (!key || !value)
      throw new UsageError(`\`--labels\` must be a list such as gpu=yes,disk=fast; received \`${text}\``);
    labels[key] = value;
  }
  return labels;
}
