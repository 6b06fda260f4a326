import type { Recovery } from "../core/error.ts";

type Words = [message: string, recovery: Recovery[]];

const LIST = { action: "list_nodes", hint: "`sallyport nodes` lists the workers that are there." };

export function needsFleet(field: string): Words {
  return [
    `\`${field}\` is about a fleet, and this gateway runs commands on its own machine.`,
    [{ action: "join_fleet", hint: "Name its servers: --fleet nats://host:4222, or `fleet` in the configuration." }],
  ];
}

export function noFleetYet(fleet: string, why: string): Words {
  return [
    `There is no fleet ${fleet} on these servers (${why}).`,
    [
      { action: "start_worker", hint: "Its first worker makes it: sallyport worker --fleet nats://host:4222" },
      { action: "check_name", hint: "Check the fleet's name, and that JetStream is on (nats-server -js)." },
    ],
  ];
}

export function hostSilent(host: string): Words {
  return [
    `The worker on ${host} gives no answer.`,
    [
      { action: "retry", hint: "Try again: a worker that was restarted finds its sessions again." },
      { action: "list_nodes", hint: "`sallyport nodes` shows whether it is there." },
    ],
  ];
}

export function notLetAsk(host: string): Words {
  return [
    `The servers do not let this gateway ask the worker on ${host} for that.`,
    [{ action: "ask_operator", hint: "What each member may ask is said by `sallyport fleet permissions`." }],
  ];
}

export function anotherGateways(name: string, gateway: string, host: string): Words {
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

export function silentHosts(hosts: string[]): string {
  const give = hosts.length === 1 ? "gives" : "give";
  return `${workersOn(hosts)} ${give} no answer: what other gateways have there is not shown.`;
}

export function tooOldHosts(hosts: string[]): string {
  const are = hosts.length === 1 ? "is" : "are";
  return `${workersOn(hosts)} ${are} too old to tell what other gateways have there: it is shown after an upgrade.`;
}

export function moreInFleet(shown: number): string {
  return `There are more than the ${shown} that are shown: --agent, or only what runs (without -a), shows fewer.`;
}

export function othersUnknown(why: string): string {
  return `Only this gateway's own sessions are shown: ${why}`;
}

export function registrySilent(why: string): Words {
  return [
    `The registry of the fleet gives no answer (${why}).`,
    [
      { action: "retry", hint: "Try again: servers that were restarted agree on a leader within seconds." },
      { action: "check_servers", hint: "Check that most of the fleet's servers are up." },
    ],
  ];
}

export function tooManyReaders(host: string): Words {
  return [
    `The worker on ${host} has too many readers to take one more.`,
    [{ action: "retry", hint: "Try again in a moment, or follow fewer sessions at a time." }],
  ];
}

export function notUnderstood(host: string | null): Words {
  return [
    `The worker${host === null ? "" : ` on ${host}`} and this gateway do not understand each other.`,
    [{ action: "upgrade", hint: "They run releases that are too far apart: bring both to the same one." }],
  ];
}

export function otherVersion(host: string, theirs: number, ours: number): Words {
  const older = theirs > ours ? `the worker on ${host}` : "the gateway";
  return [
    `The request is of version ${theirs}, and the worker on ${host} speaks version ${ours}.`,
    [
      { action: "upgrade", hint: `Upgrade ${older}, which is the older of the two.` },
      { action: "choose_host", hint: "Or name a host that is up to date (`host`); `sallyport nodes` shows releases." },
    ],
  ];
}

export function noWorker(wanted: string): Words {
  return [
    `No worker that could run it ${wanted === "" ? "" : `${wanted} `}is there.`,
    [LIST, { action: "start_worker", hint: "Start one: sallyport worker --fleet nats://host:4222" }],
  ];
}

export function notTakenUp(seconds: number): Words {
  return [
    `No worker had a free slot for it within ${seconds} seconds, so it was given up and never ran.`,
    [LIST, { action: "retry", hint: "Try again later, or start workers with more slots (`--slots`)." }],
  ];
}

export function notQueued(why: string): Words {
  return [
    `The fleet's servers did not take it (${why}), so it never ran.`,
    [{ action: "retry", hint: "Try again; `sallyport nodes` tells whether the fleet can be reached." }],
  ];
}

export function givenUp(): Words {
  return [
    "It was ended before any worker took it up, so it never ran.",
    [{ action: "retry", hint: "Start it again if it is wanted after all." }],
  ];
}

export function hostLost(host: string): Words {
  return [
    `The host ${host} is gone: nothing has been heard of it for longer than ten seconds, and what became of the command is not known.`,
    [
      { action: "retry", hint: 'Run it again if it may run twice; `retry: "idempotent"` has that done by itself.' },
      LIST,
    ],
  ];
}

export function notHere(id: string, host: string): Words {
  return [
    `${host} has no session ${id}.`,
    [{ action: "list_processes", hint: "`sallyport ps -a` lists all sessions, with their hosts." }],
  ];
}

export function workspaceElsewhere(workspace: string, host: string): Words {
  return [
    `The files of the workspace ${workspace} are on ${host}, which is not there.`,
    [
      { action: "return_host", hint: `Start its worker again: sallyport worker, on ${host}.` },
      { action: "other_workspace", hint: "Or name another workspace for the gateway (`fleet.workspace`)." },
    ],
  ];
}

export function badFleetUrl(text: string): Words {
  const hint = "For example nats://10.0.0.1:4222, or tls://a:4222,b:4222/staging?credentials=FILE&ca=FILE";
  return [`${JSON.stringify(text.slice(0, 200))} does not name a fleet.`, [{ action: "fix_request", hint }]];
}
