import type { Recovery } from "../core/error.ts";
import { operatorStep } from "../core/next-step.ts";
import { NAME_LENGTH } from "../text/output-limits.ts";

export type ErrorText = [message: string, recovery: Recovery[]];

const quoted = (name: string) => JSON.stringify(name.slice(0, NAME_LENGTH));

export function badFleetKey(text: string): ErrorText {
  return [
    `${quoted(text)} is not the public key of a gateway.`,
    [
      operatorStep(
        "show_key",
        "Run `sallyport fleet key` on the gateway's machine. It prints `ed25519:` followed by 43 characters.",
      ),
    ],
  ];
}

export function fleetKeyUnusable(file: string, why: string): ErrorText {
  return [
    `The signing key \`${file}\` cannot be used (${why}).`,
    [
      { action: "fix_state", hint: "Make the file readable by the user who runs the gateway." },
      {
        action: "new_key",
        hint: "Or remove the file. A new key is created, which the operator of each worker must trust again.",
      },
    ],
  ];
}

export function badFleetName(what: string, name: string): ErrorText {
  const hint = "Use 1 to 63 letters, digits, `_` or `-`. The name becomes part of NATS subjects.";
  return [`${quoted(name)} is not a valid name for a ${what}.`, [{ action: "fix_request", hint }]];
}

export function fleetUnreachable(servers: string[], why: string): ErrorText {
  return [
    `The fleet's NATS servers could not be reached at ${servers.join(", ")} (${why}).`,
    [
      {
        action: "check_server",
        hint: "Check that nats-server is running there and that no firewall blocks the connection.",
      },
      {
        action: "check_tls",
        hint: "For a server with TLS, use `tls://` or a `tls` section, and set `ca` to its certificate authority.",
      },
    ],
  ];
}

export function fleetNotReady(servers: string | readonly string[], why: string): ErrorText {
  return [
    `The fleet's NATS servers at ${typeof servers === "string" ? servers : servers.join(", ")} are not ready (${why}).`,
    [
      {
        action: "check_server",
        hint: "Check that JetStream is enabled and that a majority of the servers is running.",
      },
      operatorStep(
        "set_up",
        "If a permission is missing, run `sallyport fleet setup` once with an operator's credentials.",
      ),
      {
        action: "try_again",
        hint: "Then start the worker again. Commands that are already running on this machine continue.",
      },
    ],
  ];
}

export function fleetRefused(servers: string[], why: string): ErrorText {
  return [
    `The fleet's NATS server at ${servers.join(", ")} rejected the credentials (${why}).`,
    [
      { action: "give_credentials", hint: "Set `credentials` to the file with your nkey seed or JWT." },
      operatorStep(
        "add_user",
        "Add the user to the server's configuration. `sallyport fleet permissions` prints the entry.",
      ),
    ],
  ];
}

export function credentialsUnusable(file: string, why: string): ErrorText {
  return [
    `The credentials file \`${file}\` cannot be used (${why}).`,
    [
      {
        action: "fix_configuration",
        hint: "Set `credentials` to a file with the seed of an nkey (`SU…`), or to the `.creds` file of a user.",
      },
    ],
  ];
}

export function badTrustedName(name: string): ErrorText {
  const rule = "1 to 63 letters, digits, `_`, `.`, `:`, `@` or `-`, starting with a letter or digit";
  return [`${quoted(name)} is not a valid name for a gateway.`, [{ action: "fix_request", hint: `Use ${rule}.` }]];
}

export function trustedKeyExists(name: string): ErrorText {
  return [
    `A trusted gateway with this name or key already exists: ${quoted(name)}.`,
    [operatorStep("remove_first", `Remove it first with \`sallyport fleet trust remove ${name}\`.`)],
  ];
}

export function trustedKeyNotFound(reference: string): ErrorText {
  return [
    `No such trusted gateway: ${quoted(reference)}.`,
    [operatorStep("list_trusted", "List the trusted gateways with `sallyport fleet trust list`.")],
  ];
}

export function trustedKeysUnreadable(file: string, why: string): ErrorText {
  return [
    `The list of trusted gateways \`${file}\` cannot be read (${why}). No gateway is trusted.`,
    [
      operatorStep(
        "fix_configuration",
        "Repair the file, or remove it and add the gateways again with `sallyport fleet trust add`.",
      ),
    ],
  ];
}

/** Why an attestation was rejected. */
export type AttestationFault =
  | "unsigned"
  | "malformed"
  | "unknown-key"
  | "altered"
  | "other-session"
  | "other-request"
  | "expired"
  | "ahead";

const FAULTS: Record<AttestationFault, string> = {
  unsigned: "The job has no attestation of an approval.",
  malformed: "The attestation of the approval is malformed.",
  "unknown-key": "The attestation is signed by a gateway that this worker does not trust.",
  altered: "The signature of the attestation is not valid.",
  "other-session": "The attestation belongs to another session.",
  "other-request": "The attestation belongs to another request.",
  expired: "The attestation has expired.",
  ahead: "The attestation is dated in the future, so the clocks of the gateway and the worker differ.",
};

const CHANGED_IN_TRANSIT: Recovery = {
  action: "look_into_it",
  hint: "The job was changed between gateway and worker. Check both audit logs, and which users have access to the NATS servers.",
};

const REMEDIES: Record<AttestationFault, Recovery> = {
  unsigned: {
    action: "ask_at_gateway",
    hint: "Require approval for this command at the gateway too, or ask the worker's operator to allow it.",
  },
  malformed: { action: "same_version", hint: "Run the same version of Sallyport on the gateway and the worker." },
  "unknown-key": operatorStep(
    "trust_gateway",
    "To trust it, run `sallyport fleet key` on the gateway and `sallyport fleet trust add NAME KEY` on the worker.",
  ),
  altered: CHANGED_IN_TRANSIT,
  "other-session": { action: "ask_again", hint: "Run the command again. Each session requires its own approval." },
  "other-request": CHANGED_IN_TRANSIT,
  expired: { action: "ask_again", hint: "Run the command again and approve it again." },
  ahead: { action: "fix_clock", hint: "Synchronize the clocks of gateway and worker, then run the command again." },
};

export function attestationRejected(fault: AttestationFault): ErrorText {
  return [FAULTS[fault], [REMEDIES[fault]]];
}

export function nodeNotFound(host: string): ErrorText {
  return [
    `No worker named ${quoted(host)} is running.`,
    [
      operatorStep("list_nodes", "List the workers with `sallyport nodes`."),
      { action: "start_worker", hint: "To drain a worker that is stopped, start it first." },
    ],
  ];
}

export function nodeUnresponsive(host: string, timeoutMs: number): ErrorText {
  return [
    `The worker ${quoted(host)} did not respond within ${timeoutMs / 1000} s.`,
    [
      {
        action: "try_again",
        hint: "Try again. If the worker stays unreachable for 10 s, its sessions are recorded as lost.",
      },
    ],
  ];
}

const LIST_NODES = operatorStep("list_nodes", "List the running workers with `sallyport nodes`.");

export function needsFleet(field: string): ErrorText {
  return [
    `\`${field}\` requires a fleet, but this gateway runs commands on its own machine.`,
    [
      operatorStep(
        "join_fleet",
        "Set the fleet's servers with `--fleet nats://HOST:4222` or `fleet` in sallyport.json.",
      ),
    ],
  ];
}

export function fleetNotFound(fleet: string, why: string): ErrorText {
  return [
    `The fleet \`${fleet}\` does not exist on these servers (${why}).`,
    [
      operatorStep(
        "start_worker",
        "Start its first worker, which creates it: `sallyport worker --fleet nats://HOST:4222`.",
      ),
      {
        action: "check_name",
        hint: "Check the fleet's name, and that JetStream is enabled on the servers (`nats-server -js`).",
      },
    ],
  ];
}

/**
 * Returns the error for a worker that did not respond. `timeoutMs` is null when the request did not time out, for
 * example because the response was interrupted.
 */
export function hostSilent(host: string, timeoutMs: number | null): ErrorText {
  return [
    `The worker on \`${host}\` did not respond${timeoutMs === null ? "" : ` within ${timeoutMs / 1000} s`}.`,
    [
      { action: "retry", hint: "Try again. A worker that is restarted recovers its sessions." },
      operatorStep("list_nodes", "Run `sallyport nodes` to check whether it is running."),
    ],
  ];
}

export function requestNotPermitted(host: string): ErrorText {
  return [
    `The NATS servers do not permit this gateway to send that request to the worker on \`${host}\`.`,
    [
      operatorStep(
        "ask_operator",
        "Ask the fleet's operator. `sallyport fleet permissions` prints the permissions of each member.",
      ),
    ],
  ];
}

export function ownedByOtherGateway(name: string, gateway: string, host: string): ErrorText {
  return [
    `Session \`${name}\` on \`${host}\` belongs to the gateway \`${gateway}\`, which keeps its record.`,
    [
      { action: "ask_there", hint: `Remove it on the machine of the gateway \`${gateway}\`.` },
      operatorStep("end_it", `Stop it from here with \`sallyport kill ${name}\`.`),
    ],
  ];
}

const MOST_NAMED = 5;

function workersOn(hosts: string[]): string {
  const more = hosts.length > MOST_NAMED ? ` and ${hosts.length - MOST_NAMED} more` : "";
  return `The worker${hosts.length === 1 ? "" : "s"} on ${hosts.slice(0, MOST_NAMED).join(", ")}${more}`;
}

export function unresponsiveHosts(hosts: string[]): string {
  return `${workersOn(hosts)} did not respond. Sessions of other gateways there are not listed.`;
}

export function outdatedHosts(hosts: string[]): string {
  const are = hosts.length === 1 ? "is" : "are";
  return `${workersOn(hosts)} ${are} too old to list the sessions of other gateways. Upgrade Sallyport there.`;
}

export function listingTruncated(shown: number): string {
  return `Only the first ${shown} sessions are listed. Use \`--agent NAME\`, or omit \`-a\`, to list fewer.`;
}

export function peerSessionsUnavailable(why: string): string {
  return `Only this gateway's own sessions are listed. ${why}`;
}

export function registrySilent(why: string): ErrorText {
  return [
    `The fleet's registry did not respond (${why}).`,
    [
      { action: "retry", hint: "Try again. NATS servers that were restarted elect a leader within seconds." },
      { action: "check_servers", hint: "Check that a majority of the fleet's NATS servers is running." },
    ],
  ];
}

export function tooManyReaders(host: string): ErrorText {
  return [
    `The worker on \`${host}\` has reached its limit of concurrent readers.`,
    [{ action: "retry", hint: "Try again later, or follow fewer sessions at a time." }],
  ];
}

export function incompatibleMessage(host: string | null): ErrorText {
  return [
    `The worker${host === null ? "" : ` on \`${host}\``} and this gateway run incompatible versions of Sallyport.`,
    [{ action: "upgrade", hint: "Upgrade both to the same version." }],
  ];
}

export function versionMismatch(host: string, theirs: number, ours: number): ErrorText {
  const older = theirs > ours ? `the worker on \`${host}\`` : "the gateway";
  return [
    `The request has protocol version ${theirs}, but the worker on \`${host}\` supports version ${ours}.`,
    [
      { action: "upgrade", hint: `Upgrade ${older}, which is the older of the two.` },
      operatorStep(
        "choose_host",
        "Or run the command on a host with a compatible version (`host`). `sallyport nodes` lists versions.",
      ),
    ],
  ];
}

export function malformedJob(why: string): ErrorText {
  return [
    `The request is malformed: ${why}.`,
    [{ action: "upgrade", hint: "Run the same version of Sallyport on the gateway and the worker." }],
  ];
}

/**
 * Returns the error for a command that no live worker can run. `requirement` qualifies "worker", such as "with these
 * labels". It is empty when any worker could run the command.
 */
export function noWorker(requirement: string): ErrorText {
  return [
    `No worker ${requirement === "" ? "" : `${requirement} `}is available to run the command.`,
    [LIST_NODES, operatorStep("start_worker", "Start one with `sallyport worker --fleet nats://HOST:4222`.")],
  ];
}

export function claimTimedOut(seconds: number): ErrorText {
  return [
    `No worker had a free slot within ${seconds} s. The command did not run.`,
    [LIST_NODES, operatorStep("retry", "Try again later, or start workers with more slots (`--slots`).")],
  ];
}

export function publishFailed(why: string): ErrorText {
  return [
    `The fleet's NATS servers did not accept the job (${why}). The command did not run.`,
    [operatorStep("retry", "Try again. Run `sallyport nodes` to check whether the fleet can be reached.")],
  ];
}

export function abandoned(): ErrorText {
  return [
    "The session was stopped before a worker claimed it. The command did not run.",
    [{ action: "retry", hint: "Run the command again if it is still needed." }],
  ];
}

export function hostLost(host: string): ErrorText {
  return [
    `The worker on \`${host}\` no longer sends heartbeats. The outcome of the command is unknown.`,
    [
      {
        action: "retry",
        hint: "Run the command again if it is safe to run twice.",
      },
      LIST_NODES,
    ],
  ];
}

/** Returns the error for an unknown session. `place` is where the session was looked for, such as "in the fleet". */
export function sessionNotThere(id: string, place: string): ErrorText {
  return [
    `No such session ${place}: ${id}.`,
    [operatorStep("list_processes", "List all sessions and their hosts with `sallyport ps -a`.")],
  ];
}

export function workspaceHostDown(workspace: string, host: string): ErrorText {
  return [
    `The files of the workspace \`${workspace}\` are on \`${host}\`, where no worker is running.`,
    [
      operatorStep("return_host", `Start \`sallyport worker\` on \`${host}\` again.`),
      { action: "other_workspace", hint: "Or set another workspace for the gateway (`fleet.workspace`)." },
    ],
  ];
}

export function badFleetUrl(text: string): ErrorText {
  const hint = "For example, use `nats://10.0.0.1:4222` or `tls://a:4222,b:4222/staging?credentials=FILE&ca=FILE`.";
  return [`${JSON.stringify(text.slice(0, 200))} is not a valid fleet URL.`, [{ action: "fix_request", hint }]];
}

/** The URL is not shown: error messages are logged. */
export function secretInFleetUrl(): ErrorText {
  const hint = "Put the nkey seed or the `.creds` file in a file and add `?credentials=FILE` to the URL.";
  return ["A fleet URL must not contain a password or token.", [{ action: "fix_request", hint }]];
}
