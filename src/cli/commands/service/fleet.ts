import { SallyportError } from "../../../core/error.ts";
import { needsFleet } from "../../../fleet/errors.ts";
import { storeNames } from "../../../fleet/subjects.ts";
import { type Command, type Invocation, UsageError } from "../../command.ts";
import { printJson } from "../../io.ts";
import { countOption } from "../../options.ts";
import { printPermissions } from "./fleet-permissions.ts";
import { showKey, trust } from "./fleet-trust.ts";

export const fleet: Command = {
  name: "fleet",
  summary: "Manage the keys and permissions of a fleet",
  usage: `sallyport fleet key
       sallyport fleet trust [list]
       sallyport fleet trust add NAME KEY
       sallyport fleet trust remove NAME...
       sallyport fleet permissions [OPTIONS]
       sallyport fleet setup [--replicas N]`,
  actions: {
    key: "Print the public key that verifies the approvals signed by this machine's gateway",
    trust: "Manage the gateways whose approvals this worker accepts",
    permissions: "Print the NATS permissions of gateways and workers",
    setup: "Create the fleet's streams, for fleets whose workers are not permitted to do so",
  },
  options: {
    gateway: { type: "string", multiple: true },
    worker: { type: "string", multiple: true },
    labels: { type: "string", multiple: true },
    keys: { type: "string" },
    name: { type: "string" },
    nsc: { type: "boolean" },
    replicas: { type: "string" },
  },
  help: {
    gateway: "NAME: Name of a gateway; repeatable",
    worker: "HOST: Name of a worker; repeatable",
    labels: "KEY=VALUE,...: Labels of the workers",
    keys: "DIR: Folder with the nkey seeds of the members; missing seeds are generated",
    name: "NAME: Name of the fleet (default: main)",
    nsc: "Print commands for nsc instead of nats-server configuration",
    agent: "NAME: Restrict the gateways to this agent",
    replicas: "N: Number of servers that store each stream (default: 3 in a cluster, otherwise 1)",
    json: "Print JSON",
  },
  groups: {
    "Options for permissions": ["gateway", "worker", "labels", "agent", "keys", "name", "nsc"],
    "Options for setup": ["replicas"],
  },
  sections: {
    Output: `When stdout is not a terminal, trust list prints one line of tab-separated columns per gateway, without a header:
      NAME, KEY, ADDED, BY.`,
  },
  examples: [
    ["Print the public key of this gateway", "sallyport fleet key"],
    [
      "Accept the approvals of a gateway on this worker",
      "sallyport fleet trust add office ed25519:1h2Xc0vQ3mO9XH7yqfJ2Wj9bY2m4dQe5nTqRk8sLw0A",
    ],
    [
      "Print nats-server configuration for a gateway and two workers",
      "sallyport fleet permissions --gateway office --worker web-1 --worker web-2 --keys keys > members.conf",
    ],
    [
      "Print nsc commands for a gateway that serves one agent",
      "sallyport fleet permissions --gateway laptop --agent builder --nsc",
    ],
  ],
  run: (invocation) => {
    const [action, ...given] = [...invocation.positionals, ...(invocation.rest ?? [])];
    if (action === "key") return showKey(invocation, given);
    if (action === "trust") return trust(invocation, given);
    if (action === "permissions") return printPermissions(invocation, given);
    if (action === "setup") return setUp(invocation, given);
    throw new UsageError(
      action === undefined
        ? "no subcommand given; use key, trust, permissions or setup"
        : `unknown subcommand \`fleet ${action}\`; use key, trust, permissions or setup`,
    );
  },
};

/** Creates the fleet's streams and buckets with the credentials of an operator's gateway. Needed once per fleet. */
async function setUp({ values, io }: Invocation, [unexpected]: string[]): Promise<number> {
  if (unexpected !== undefined) throw new UsageError(`unexpected argument \`${unexpected}\` for \`fleet setup\``);
  const replicas = countOption(values, "replicas") ?? null;
  const [{ fleetFromEnvironment }, { loadConfig }, { joinFleet }, { ensureStores }] = await Promise.all([
    import("../../../fleet/url.ts"),
    import("../../../config/load.ts"),
    import("../../../fleet/connection.ts"),
    import("../../../fleet/streams.ts"),
  ]);
  const options = fleetFromEnvironment() ?? loadConfig({ workspace: process.cwd() }).settings.fleet;
  if (!options) throw new SallyportError("InvalidRequest", ...needsFleet("fleet setup"));
  const { connection, fleet } = await joinFleet(options, "gateway");
  try {
    await ensureStores(connection, fleet, { replicas });
    if (values.json) printJson({ fleet, stores: storeNames(fleet) }, io);
    return 0;
  } finally {
    await connection.close();
  }
}
