import type { FleetMember } from "../../../fleet/permissions.ts";
import type { Invocation } from "../../command.ts";
import { nscCommands, serverConfig } from "../../fleet/server-config.ts";
import { textOption, textOptions } from "../../options.ts";
import { printJson } from "../../print-json.ts";
import { UsageError } from "../../usage-error.ts";

/** Prints what the server must know about each member that is named. */
export async function printPermissions({ values, io }: Invocation, [unexpected]: string[]): Promise<number> {
  if (unexpected !== undefined) throw new UsageError(`\`fleet permissions\` takes no \`${unexpected}\``);
  const [{ permissionsOf }, { DEFAULT_FLEET, memberPublicKey }, { validateName }] = await Promise.all([
    import("../../../fleet/permissions.ts"),
    loadKeys(),
    import("../../../fleet/subjects.ts"),
  ]);
  const fleet = validateName("fleet", textOption(values, "name") ?? DEFAULT_FLEET);
  const folder = textOption(values, "keys");
  const members = membersOf(values).map((member) => ({
    member,
    permissions: permissionsOf(fleet, member),
    nkey: folder === undefined ? null : memberPublicKey(folder, member),
  }));
  if (values.json) printJson(members, io);
  else io.out(values.nsc ? nscCommands(members) : serverConfig(fleet, members));
  return 0;
}

async function loadKeys() {
  const [{ DEFAULT_FLEET }, { memberPublicKey }] = await Promise.all([
    import("../../../fleet/connection.ts"),
    import("../../../fleet/permissions.ts"),
  ]);
  return { DEFAULT_FLEET, memberPublicKey };
}

function membersOf(values: Invocation["values"]): FleetMember[] {
  const agent = textOption(values, "agent");
  const labels = textOptions(values, "labels")
    .flatMap((list) => list.split(","))
    .map(labelOf);
  const gateways = textOptions(values, "gateway").map((name): FleetMember => ({ kind: "gateway", name, agent }));
  const workers = textOptions(values, "worker").map((name): FleetMember => ({ kind: "worker", name, labels }));
  if (agent !== undefined && gateways.length === 0) {
    throw new UsageError("whose gateway serves that agent? Name it with `--gateway`");
  }
  if (labels.length > 0 && workers.length === 0)
    throw new UsageError("`--labels` are a worker's: name it with `--worker`");
  if (gateways.length + workers.length === 0)
    throw new UsageError("for whom? Name members with `--gateway` or `--worker`");
  return [...gateways, ...workers];
}

function labelOf(text: string): [string, string] {
  const [name = "", value, ...more] = text.split("=");
  const word = /^[A-Za-z0-9_-]{1,63}$/;
  if (value === undefined || more.length > 0 || !word.test(name) || !word.test(value)) {
    throw new UsageError(`\`--labels\` must be such as gpu=yes,zone=eu; received \`${text}\``);
  }
  return [name, value];
}
