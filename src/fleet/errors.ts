import type { Recovery } from "../core/error.ts";
import { NAME_LENGTH } from "../core/output-limits.ts";

type Words = [message: string, recovery: Recovery[]];

const quoted = (name: string) => JSON.stringify(name.slice(0, NAME_LENGTH));

export function badFleetKey(text: string): Words {
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

export function fleetKeyUnusable(file: string, why: string): Words {
  return [
    `The signing key ${file} cannot be used (${why}).`,
    [
      { action: "fix_state", hint: "Make it readable to its owner, who must be who runs the gateway." },
      { action: "new_key", hint: "Or remove it: a new one is made, which workers must then be told to trust." },
    ],
  ];
}

export function badFleetName(what: string, name: string): Words {
  const hint = "A name is 1 to 63 letters, digits, `_` or `-`: it becomes a part of NATS subjects.";
  return [`${quoted(name)} cannot be the name of a ${what}.`, [{ action: "fix_request", hint }]];
}

export function fleetUnreachable(servers: string[], why: string): Words {
  return [
    `No server of the fleet could be reached at ${servers.join(", ")} (${why}).`,
    [
      { action: "check_server", hint: "Check that nats-server runs there, and that no firewall is in between." },
      { action: "check_tls", hint: "A server with TLS needs tls:// or a `tls` section; its authority goes into `ca`." },
    ],
  ];
}

export function fleetNotReady(servers: string | readonly string[], why: string): Words {
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

export function fleetRefused(servers: string[], why: string): Words {
  return [
    `The fleet's server at ${servers.join(", ")} lets nobody in with these credentials (${why}).`,
    [
      { action: "give_credentials", hint: "Give the file of your nkey seed or JWT as `credentials`." },
      { action: "add_user", hint: "`sallyport fleet permissions` prints what the server must know about each member." },
    ],
  ];
}

export function credentialsUnusable(file: string, why: string): Words {
  return [
    `The credentials ${file} cannot be used (${why}).`,
    [{ action: "fix_configuration", hint: "Name the file with the seed of an nkey (SU…) or a .creds file of a user." }],
  ];
}

export function badTrustName(name: string): Words {
  const rule = "1 to 63 letters, digits, `_`, `.`, `:`, `@` or `-`, and starts with a letter or digit";
  return [`${quoted(name)} cannot name a gateway.`, [{ action: "fix_request", hint: `A name is ${rule}.` }]];
}

export function trustNameTaken(name: string): Words {
  return [
    `The name or the key is on the list already: ${quoted(name)}.`,
    [{ action: "remove_first", hint: `Take it back first: \`sallyport fleet trust remove ${name}\`.` }],
  ];
}

export function noSuchTrust(reference: string): Words {
  return [
    `No gateway ${quoted(reference)} is trusted here.`,
    [{ action: "list_trusted", hint: "`sallyport fleet trust list` names those that are." }],
  ];
}

export function trustUnreadable(file: string, why: string): Words {
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
export type StatementFault =
  | "unsigned"
  | "malformed"
  | "unknown-key"
  | "altered"
  | "other-session"
  | "other-request"
  | "expired"
  | "ahead";

const FAULTS: Record<StatementFault, string> = {
  unsigned: "it came without a signed approval",
  malformed: "the approval that came with it is not one",
  "unknown-key": "its approval is signed by a gateway that is not trusted here",
  altered: "its approval does not bear the signature of the gateway it names",
  "other-session": "its approval was given for another session",
  "other-request": "its approval was given for another request: something of it changed on the way",
  expired: "its approval has expired",
  ahead: "its approval was given in the future: the clocks disagree",
};

const REMEDIES: Record<StatementFault, Recovery> = {
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

export function statementRefused(fault: StatementFault): Words {
  return [`The worker's operator wants this asked, and ${FAULTS[fault]}.`, [REMEDIES[fault]]];
}

export function noSuchNode(host: string): Words {
  return [
    `No worker ${quoted(host)} is in the fleet now.`,
    [
      { action: "list_nodes", hint: "`sallyport nodes` lists those that are." },
      { action: "start_worker", hint: "A worker that is down takes no work either; start it first to drain it." },
    ],
  ];
}

export function nodeSilent(host: string): Words {
  return [
    `The worker ${quoted(host)} does not answer.`,
    [{ action: "try_again", hint: "Try again; if it stays silent its sessions become lost within seconds." }],
  ];
}
