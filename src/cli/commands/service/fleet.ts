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
  summary: "Say which gateways a worker trusts, and what members may do on the servers",
  usage: `sallyport fleet key
       sallyport fleet trust [list]
       sallyport fleet trust add NAME KEY
       sallyport fleet trust remove NAME…
       sallyport fleet permissions [OPTIONS]
       sallyport fleet setup [--replicas N]`,
  options: {
    gateway: { type: "string", multiple: true },
    worker: { type: "string", multiple: true },
    labels: { type: "string", multiple: true },
    name: { type: "string" },
    keys: { type: "string" },
    nsc: { type: "boolean" },
    replicas: { type: "string" },
  },
  help: {
    gateway: "NAME: permissions: of this gateway; may be repeated",
    worker: "HOST: permissions: of this worker; may be repeated",
    labels: "K=V,…: permissions: the labels whose work these workers may take",
    name: "NAME: permissions: of this fleet [main]",
    keys: "DIR: permissions: where the members' nkey seeds are; those that are not are made",
    nsc: "permissions: as commands for `nsc`, which makes JWTs, instead of server configuration",
    replicas: "N: setup: on how many servers all is kept [three where there are three]",
    agent: "NAME: permissions: these gateways serve this agent and no other",
    json: "print JSON",
  },
  examples: [
    "sallyport fleet key",
    "sallyport fleet trust add office ed25519:1h2Xc0vQ3mO9XH7yqfJ2Wj9bY2m4dQe5nTqRk8sLw0A",
    "sallyport fleet trust remove office",
    "sallyport fleet permissions --gateway office --worker web-1 --worker web-2 --keys keys > members.conf",
    "sallyport fleet permissions --gateway laptop --agent builder --nsc",
  ],
  notes: `\`key\` prints the public key of this machine's gateway, which signs the approvals it sends to workers.
\`trust\` is for the worker's machine: an approval counts there only if a gateway on the list signed it.
\`permissions\` prints what nats-server must know about each member: what it may publish and hear.
\`setup\` makes the streams on the servers, where workers have no permission to do so themselves.
Piped, \`trust list\` prints NAME, KEY, ADDED, BY with tabs between.`,
  run: (invocation) => {
    const [action, ...given] = [...invocation.positionals, ...(invocation.rest ?? [])];
    if (action === "key") return showKey(invocation, given);
    if (action === "trust") return trust(invocation, given);
    if (action === "permissions") return printPermissions(invocation, given);
    if (action === "setup") return setUp(invocation, given);
    throw new UsageError(
      `\`fleet\` knows key, trust, permissions and setup; received ${action ? `\`${action}\`` : "nothing"}`,
    );
  },
};

/** Makes what a fleet keeps on its servers, where workers may not: once, with the credentials of an operator's gateway. */
async function setUp({ values, io }: Invocation, [unexpected]: string[]): Promise<number> {
  if (unexpected !== undefined) throw new UsageError(`\`fleet setup\` takes no \`${unexpected}\``);
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
