import type { FleetMember, Permissions } from "../../../fleet/permissions.ts";
import { type Invocation, UsageError } from "../../command.ts";
import { printJson } from "../../io.ts";
import { textOption, textOptions } from "../../options.ts";

/** Prints the NATS permissions of the members given as options. */
export async function printPermissions({ values, io }: Invocation, [unexpected]: string[]): Promise<number> {
  if (unexpected !== undefined) throw new UsageError(`unexpected argument \`${unexpected}\` for \`fleet permissions\``);
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
    throw new UsageError("`--agent` requires `--gateway`");
  }
  if (labels.length > 0 && workers.length === 0) throw new UsageError("`--labels` requires `--worker`");
  if (gateways.length + workers.length === 0) throw new UsageError("no members given; use `--gateway` or `--worker`");
  return [...gateways, ...workers];
}

function labelOf(text: string): [string, string] {
  const [name = "", value, ...more] = text.split("=");
  const word = /^[A-Za-z0-9_-]{1,63}$/;
  if (value === undefined || more.length > 0 || !word.test(name) || !word.test(value)) {
    throw new UsageError(`\`--labels\` must be a list such as gpu=yes,zone=eu; received \`${text}\``);
  }
  return [name, value];
}

interface NamedMember {
  member: FleetMember;
  permissions: Permissions;
  /** The public nkey of the member. Null when unknown. */
  nkey: string | null;
}

/** One hour exceeds the longest wait for responses to one request, after which the client sends a new one. */
const RESPONSES = '{ max: -1, expires: "1h" }';

/** Returns a part of the nats-server configuration, for use with `include`. */
function serverConfig(fleet: string, members: NamedMember[]): string {
  const users = members.map((each) => userBlock(each)).join("\n");
  return `# Members of the fleet ${fleet}. Add this to the nats-server configuration: include "members.conf"
authorization {
  users: [
${users}
  ]
}
`;
}

function userBlock({ member, permissions: { publish, subscribe, responses }, nkey }: NamedMember): string {
  const list = (subjects: string[]) => subjects.map((subject) => `          ${JSON.stringify(subject)}`).join("\n");
  return `    {
      # ${describe(member)}
      nkey: ${nkey ?? "PUBLIC_NKEY_HERE"}
      permissions: {
        publish: { allow: [
${list(publish)}
        ] }
        subscribe: { allow: [
${list(subscribe)}
        ] }${responses ? `\n        allow_responses: ${RESPONSES}` : ""}
      }
    }`;
}

function describe(member: FleetMember): string {
  if (member.kind === "gateway") {
    return `gateway ${member.name}${member.agent === undefined ? "" : `, only for agent ${visible(member.agent)}`}`;
  }
  const labels = member.labels.map(([name, value]) => `${name}=${value}`).join(", ");
  return `worker ${member.name}${labels ? ` (${labels})` : ""}`;
}

/** Quotes a name for a comment, which a line feed would end. */
function visible(text: string): string {
  return JSON.stringify(text);
}

/** Returns nsc commands, for accounts with JWTs. They have to be run where the account's signing key is. */
function nscCommands(members: NamedMember[]): string {
  return members.map((each) => `${nscCommand(each)}\n`).join("");
}

function nscCommand({ member, permissions: { publish, subscribe, responses } }: NamedMember): string {
  const quoted = (subjects: string[]) => `'${subjects.join(",")}'`;
  const answer = responses ? " \\\n  --allow-pub-response=-1 --response-ttl 1h" : "";
  return `nsc add user --name ${member.kind}-${member.name} \\
  --allow-pub ${quoted(publish)} \\
  --allow-sub ${quoted(subscribe)}${answer}`;
}
