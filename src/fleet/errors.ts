import type { Recovery } from "../core/error.ts";
import { NAME_LENGTH } from "../core/output-limits.ts";

export type ErrorText = [message: string, recovery: Recovery[]];

const quoted = (name: string) => JSON.stringify(name.slice(0, NAME_LENGTH));

export function badFleetKey(text: string): ErrorText {
  return [
    `${quoted(text)} is not a gateway's public key.`,
    [
      {
        action: "show_key",
        hint: "`sallyport fleet key` on the gateway's machine prints it: `ed25519:` and 43 letters.",
      },
    ],
  ];
}

export function fleetKeyUnusable(file: string, why: string): ErrorText {
  return [
    `The signing key ${file} cannot be used (${why}).`,
    [
      { action: "fix_state", hint: "Make it readable to its owner, who must be who runs the gateway." },
      { action: "new_key", hint: "Or remove it: a new one is made, which workers must then be told to trust." },
    ],
  ];
}

export function badFleetName(what: string, name: string): ErrorText {
  const hint = "A name is 1 to 63 letters, digits, `_` or `-`: it becomes a part of NATS subjects.";
  return [`${quoted(name)} cannot be the name of a ${what}.`, [{ action: "fix_request", hint }]];
}

export function fleetUnreachable(servers: string[], why: string): ErrorText {
  return [
    `No server of the fleet could be reached at ${servers.join(", ")} (${why}).`,
    [
      { action: "check_server", hint: "Check that nats-server runs there, and that no firewall is in between." },
      { action: "check_tls", hint: "A server with TLS needs tls:// or a `tls` section; its authority goes into `ca`." },
    ],
  ];
}

export function fleetNotReady(servers: string | readonly string[], why: string): ErrorText {
  return [
    `The fleet's servers at ${typeof servers === "string" ? servers : servers.join(", ")} are not ready (${why}).`,
    [
      { action: "check_server", hint: "JetStream must be enabled, and of three servers two must be up." },
      {
        action: "set_up",
        hint: "Where permission is missing: `sallyport fleet setup`, once, as an operator's gateway.",
      },
      { action: "try_again", hint: "Start it again: what runs here runs on meanwhile." },
    ],
  ];
}

export function fleetRefused(servers: string[], why: string): ErrorText {
  return [
    `The fleet's server at ${servers.join(", ")} lets nobody in with these credentials (${why}).`,
    [
      { action: "give_credentials", hint: "Give the file of your nkey seed or JWT as `credentials`." },
      { action: "add_user", hint: "`sallyport fleet permissions` prints what the server must know about each member." },
    ],
  ];
}

export function credentialsUnusable(file: string, why: string): ErrorText {
  return [
    `The credentials ${file} cannot be used (${why}).`,
    [{ action: "fix_configuration", hint: "Name the file with the seed of an nkey (SU…) or a .creds file of a user." }],
  ];
}

export function badTrustedName(name: string): ErrorText {
  const rule = "1 to 63 letters, digits, `_`, `.`, `:`, `@` or `-`, and starts with a letter or digit";
  return [`${quoted(name)} cannot name a gateway.`, [{ action: "fix_request", hint: `A name is ${rule}.` }]];
}

export function trustedKeyExists(name: string): ErrorText {
  return [
    `The name or the key is on the list already: ${quoted(name)}.`,
    [{ action: "remove_first", hint: `Take it back first: \`sallyport fleet trust remove ${name}\`.` }],
  ];
}

export function trustedKeyNotFound(reference: string): ErrorText {
  return [
    `No gateway ${quoted(reference)} is trusted here.`,
    [{ action: "list_trusted", hint: "`sallyport fleet trust list` names those that are." }],
  ];
}

export function trustedKeysUnreadable(file: string, why: string): ErrorText {
  return [
    `The list of trusted gateways ${file} cannot be read (${why}), so none is trusted.`,
    [
      {
        action: "fix_configuration",
        hint: "Repair it, or remove it and add the gateways anew: `sallyport fleet trust add`.",
      },
    ],
  ];
}

/** What is wrong with a statement of approval. */
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
  unsigned: "it came without a signed approval",
  malformed: "the approval that came with it is not one",
  "unknown-key": "its approval is signed by a gateway that is not trusted here",
  altered: "its approval does not bear the signature of the gateway it names",
  "other-session": "its approval was given for another session",
  "other-request": "its approval was given for another request: something of it changed on the way",
  expired: "its approval has expired",
  ahead: "its approval was given in the future: the clocks disagree",
};

const REMEDIES: Record<AttestationFault, Recovery> = {
  unsigned: {
    action: "ask_at_gateway",
    hint: "This worker's configuration wants it asked: let the gateway ask too, or let the worker's operator allow it.",
  },
  malformed: { action: "same_version", hint: "Run the same version of Sallyport at the gateway and at the worker." },
  "unknown-key": {
    action: "trust_gateway",
    hint: "If the gateway is yours: `sallyport fleet key` there, then `sallyport fleet trust add NAME KEY` at the worker.",
  },
  altered: { action: "look_into_it", hint: "Somebody between gateway and worker changes messages: look at the audit." },
  "other-session": { action: "ask_again", hint: "Run it again: a new session is approved for itself." },
  "other-request": {
    action: "look_into_it",
    hint: "Somebody between gateway and worker changes messages: look at the audit.",
  },
  expired: { action: "ask_again", hint: "Run it again and approve it anew; no worker was free in time." },
  ahead: { action: "fix_clock", hint: "Set the clocks of gateway and worker, then run it again." },
};

export function attestationRejected(fault: AttestationFault): ErrorText {
  return [`The worker's operator wants this asked, and ${FAULTS[fault]}.`, [REMEDIES[fault]]];
}

export function nodeNotFound(host: string): ErrorText {
  return [
    `No worker ${quoted(host)} is in the fleet now.`,
    [
      { action: "list_nodes", hint: "`sallyport nodes` lists those that are." },
      { action: "start_worker", hint: "A worker that is down takes no work either; start it first to drain it." },
    ],
  ];
}

export function nodeUnresponsive(host: string): ErrorText {
  return [
    `The worker ${quoted(host)} does not answer.`,
    [{ action: "try_again", hint: "Try again; if it stays silent its sessions become lost within seconds." }],
  ];
}

const LIST_NODES = { action: "list_nodes", hint: "`sallyport nodes` lists the workers that are there." };

export function needsFleet(field: string): ErrorText {
  return [
    `\`${field}\` is about a fleet, and this gateway runs commands on its own machine.`,
    [{ action: "join_fleet", hint: "Name its servers: --fleet nats://host:4222, or `fleet` in the configuration." }],
  ];
}

export function fleetNotFound(fleet: string, why: string): ErrorText {
  return [
    `There is no fleet ${fleet} on these servers (${why}).`,
    [
      { action: "start_worker", hint: "Its first worker makes it: sallyport worker --fleet nats://host:4222" },
      { action: "check_name", hint: "Check the fleet's name, and that JetStream is on (nats-server -js)." },
    ],
  ];
}

export function hostSilent(host: string): ErrorText {
  return [
    `The worker on ${host} gives no answer.`,
    [
      { action: "retry", hint: "Try again: a worker that was restarted finds its sessions again." },
      { action: "list_nodes", hint: "`sallyport nodes` shows whether it is there." },
    ],
  ];
}

export function requestNotPermitted(host: string): ErrorText {
  return [
    `The servers do not let this gateway ask the worker on ${host} for that.`,
    [{ action: "ask_operator", hint: "What each member may ask is said by `sallyport fleet permissions`." }],
  ];
}

export function ownedByOtherGateway(name: string, gateway: string, host: string): ErrorText {
  return [
    `The session ${name} on ${host} is the gateway ${gateway}'s: what is kept of it is kept there.`,
    [
      { action: "ask_there", hint: `Remove it where it was started, with the state folder of ${gateway}.` },
      { action: "end_it", hint: "It can be ended from here: `sallyport kill`." },
    ],
  ];
}

const MOST_NAMED = 5;

function workersOn(hosts: string[]): string {
  const more = hosts.length > MOST_NAMED ? ` and ${hosts.length - MOST_NAMED} more` : "";
  return `The worker${hosts.length === 1 ? "" : "s"} on ${hosts.slice(0, MOST_NAMED).join(", ")}${more}`;
}

export function unresponsiveHosts(hosts: string[]): string {
  const give = hosts.length === 1 ? "gives" : "give";
  return `${workersOn(hosts)} ${give} no answer: what other gateways have there is not shown.`;
}

export function outdatedHosts(hosts: string[]): string {
  const are = hosts.length === 1 ? "is" : "are";
  return `${workersOn(hosts)} ${are} too old to tell what other gateways have there: it is shown after an upgrade.`;
}

export function listingTruncated(shown: number): string {
  return `There are more than the ${shown} that are shown: --agent, or only what runs (without -a), shows fewer.`;
}

export function peerSessionsUnavailable(why: string): string {
  return `Only this gateway's own sessions are shown: ${why}`;
}

export function registrySilent(why: string): ErrorText {
  return [
    `The registry of the fleet gives no answer (${why}).`,
    [
      { action: "retry", hint: "Try again: servers that were restarted agree on a leader within seconds." },
      { action: "check_servers", hint: "Check that most of the fleet's servers are up." },
    ],
  ];
}

export function tooManyReaders(host: string): ErrorText {
  return [
    `The worker on ${host} has too many readers to take one more.`,
    [{ action: "retry", hint: "Try again in a moment, or follow fewer sessions at a time." }],
  ];
}

export function incompatibleMessage(host: string | null): ErrorText {
  return [
    `The worker${host === null ? "" : ` on ${host}`} and this gateway do not understand each other.`,
    [{ action: "upgrade", hint: "They run releases that are too far apart: bring both to the same one." }],
  ];
}

export function versionMismatch(host: string, theirs: number, ours: number): ErrorText {
  const older = theirs > ours ? `the worker on ${host}` : "the gateway";
  return [
    `The request is of version ${theirs}, and the worker on ${host} speaks version ${ours}.`,
    [
      { action: "upgrade", hint: `Upgrade ${older}, which is the older of the two.` },
      { action: "choose_host", hint: "Or name a host that is up to date (`host`); `sallyport nodes` shows releases." },
    ],
  ];
}

export function noWorker(wanted: string): ErrorText {
  return [
    `No worker that could run it ${wanted === "" ? "" : `${wanted} `}is there.`,
    [LIST_NODES, { action: "start_worker", hint: "Start one: sallyport worker --fleet nats://host:4222" }],
  ];
}

export function claimTimedOut(seconds: number): ErrorText {
  return [
    `No worker had a free slot for it within ${seconds} seconds, so it was given up and never ran.`,
    [LIST_NODES, { action: "retry", hint: "Try again later, or start workers with more slots (`--slots`)." }],
  ];
}

export function publishFailed(why: string): ErrorText {
  return [
    `The fleet's servers did not take it (${why}), so it never ran.`,
    [{ action: "retry", hint: "Try again; `sallyport nodes` tells whether the fleet can be reached." }],
  ];
}

export function abandoned(): ErrorText {
  return [
    "It was ended before any worker took it up, so it never ran.",
    [{ action: "retry", hint: "Start it again if it is wanted after all." }],
  ];
}

export function hostLost(host: string): ErrorText {
  return [
    `The host ${host} is gone: nothing has been heard of it for longer than ten seconds, and what became of the command is not known.`,
    [
      { action: "retry", hint: 'Run it again if it may run twice; `retry: "idempotent"` has that done by itself.' },
      LIST_NODES,
    ],
  ];
}

export function sessionNotOnHost(id: string, host: string): ErrorText {
  return [
    `${host} has no session ${id}.`,
    [{ action: "list_processes", hint: "`sallyport ps -a` lists all sessions, with their hosts." }],
  ];
}

export function workspaceHostDown(workspace: string, host: string): ErrorText {
  return [
    `The files of the workspace ${workspace} are on ${host}, which is not there.`,
    [
      { action: "return_host", hint: `Start its worker again: sallyport worker, on ${host}.` },
      { action: "other_workspace", hint: "Or name another workspace for the gateway (`fleet.workspace`)." },
    ],
  ];
}

export function badFleetUrl(text: string): ErrorText {
  const hint = "For example nats://10.0.0.1:4222, or tls://a:4222,b:4222/staging?credentials=FILE&ca=FILE";
  return [`${JSON.stringify(text.slice(0, 200))} does not name a fleet.`, [{ action: "fix_request", hint }]];
}
