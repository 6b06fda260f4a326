import type { FleetMember, Permissions } from "../../fleet/permissions.ts";

/** An hour of answers to one question is enough for the longest wait; after it, one asks again. */
const RESPONSES = '{ max: -1, expires: "1h" }';

interface NamedMember {
  member: FleetMember;
  permissions: Permissions;
  /** Its public nkey; null: it is not known yet. */
  nkey: string | null;
}

/** A part of nats-server's configuration, to be included by it. */
export function serverConfig(fleet: string, members: NamedMember[]): string {
  const users = members.map((each) => userBlock(each)).join("\n");
  return `# Members of the fleet ${fleet}. In nats-server's own configuration: include "members.conf"
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
    return `the gateway ${member.name}${member.agent === undefined ? "" : `, for the agent ${visible(member.agent)} alone`}`;
  }
  const labels = member.labels.map(([name, value]) => `${name}=${value}`).join(", ");
  return `the worker ${member.name}${labels ? ` (${labels})` : ""}`;
}

/** It stands in a comment, which a line end would end. */
function visible(text: string): string {
  return JSON.stringify(text);
}

/** The same for an account with JWTs: what to type where the account's signing key is. */
export function nscCommands(members: NamedMember[]): string {
  return members.map((each) => `${nscCommand(each)}\n`).join("");
}

function nscCommand({ member, permissions: { publish, subscribe, responses } }: NamedMember): string {
  const quoted = (subjects: string[]) => `'${subjects.join(",")}'`;
  const answer = responses ? " \\\n  --allow-pub-response=-1 --response-ttl 1h" : "";
  return `nsc add user --name ${member.kind}-${member.name} \\
  --allow-pub ${quoted(publish)} \\
  --allow-sub ${quoted(subscribe)}${answer}`;
}
