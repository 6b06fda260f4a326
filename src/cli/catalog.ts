import { nearest } from "../text/nearest.ts";
import type { Command } from "./command.ts";

export interface Entry {
  summary: string;
  load(): Promise<Command>;
}

/** Every command by name. A command's file is loaded when it is called, so that help and version cost nothing. */
export const CATALOG: Record<string, Record<string, Entry>> = {
  "Run commands": {
    run: {
      summary: "Run a command, in the foreground or as a background session",
      load: async () => (await import("./commands/session/run.ts")).run,
    },
    check: {
      summary: "Judge a command without running it",
      load: async () => (await import("./commands/approval/check.ts")).check,
    },
    mcp: {
      summary: "Serve an agent's tools over the Model Context Protocol",
      load: async () => (await import("./commands/service/mcp.ts")).mcp,
    },
    serve: {
      summary: "Serve the console: a page for people, and everything over HTTP for programs",
      load: async () => (await import("./commands/service/serve.ts")).serve,
    },
  },
  "Follow and steer sessions": {
    ps: { summary: "List sessions", load: async () => (await import("./commands/session/ps.ts")).ps },
    logs: {
      summary: "Print what a session wrote",
      load: async () => (await import("./commands/session/logs.ts")).logs,
    },
    screen: {
      summary: "Show what is on the terminal of a session",
      load: async () => (await import("./commands/session/screen.ts")).screen,
    },
    record: {
      summary: "Export what was on the terminal of a session, to be played back",
      load: async () => (await import("./commands/session/record.ts")).record,
    },
    wait: {
      summary: "Wait for sessions to end and pass on the exit code",
      load: async () => (await import("./commands/session/wait.ts")).wait,
    },
    attach: {
      summary: "Sit down at a session's terminal, next to whoever is there already",
      load: async () => (await import("./commands/session/attach.ts")).attach,
    },
    "send-keys": {
      summary: "Type keys into a session on a terminal",
      load: async () => (await import("./commands/session/send-keys.ts")).sendKeys,
    },
    kill: {
      summary: "Signal a session and everything it started",
      load: async () => (await import("./commands/session/kill.ts")).kill,
    },
    inspect: {
      summary: "Show everything known about a session",
      load: async () => (await import("./commands/session/inspect.ts")).inspect,
    },
    stats: {
      summary: "Show what running sessions consume, live",
      load: async () => (await import("./commands/session/stats.ts")).stats,
    },
    rm: {
      summary: "Forget finished sessions and their logs",
      load: async () => (await import("./commands/session/rm.ts")).rm,
    },
  },
  "Records and work": {
    audit: {
      summary: "Look back at what was asked, decided and done",
      load: async () => (await import("./commands/audit.ts")).audit,
    },
    work: {
      summary: "Take up what waits to be done, such as exit callbacks",
      load: async () => (await import("./commands/work.ts")).work,
    },
  },
  "Decide as a person": {
    approvals: {
      summary: "See what waits for a person, and decide",
      load: async () => (await import("./commands/approval/approvals.ts")).approvals,
    },
    approve: {
      summary: "Let a waiting command run, once or for good",
      load: async () => (await import("./commands/approval/approve.ts")).approve,
    },
    deny: {
      summary: "Refuse a waiting command, with a reason for the agent",
      load: async () => (await import("./commands/approval/deny.ts")).deny,
    },
    allow: {
      summary: "List, add and take back what is allowed for good",
      load: async () => (await import("./commands/approval/allow.ts")).allow,
    },
  },
  "Many machines": {
    worker: {
      summary: "Run commands for a fleet on this machine",
      load: async () => (await import("./commands/service/worker.ts")).worker,
    },
    nodes: {
      summary: "List the workers of a fleet, drain them and take them back",
      load: async () => (await import("./commands/service/nodes.ts")).nodes,
    },
    fleet: {
      summary: "Say which gateways a worker trusts, and what members may do on the servers",
      load: async () => (await import("./commands/service/fleet.ts")).fleet,
    },
  },
  Maintenance: {
    init: {
      summary: "Write a configuration to begin with, every key explained",
      load: async () => (await import("./commands/init.ts")).init,
    },
    token: {
      summary: "Make, list and revoke the tokens that programs show over HTTP",
      load: async () => (await import("./commands/service/token.ts")).token,
    },
    clean: {
      summary: "Forget old sessions and free their disk space",
      load: async () => (await import("./commands/clean.ts")).clean,
    },
    completion: {
      summary: "Print a script that lets your shell complete commands and ids",
      load: async () => (await import("./commands/completion.ts")).completionCommand(loadAll),
    },
    doctor: {
      summary: "Check that this machine can do what Sallyport promises",
      load: async () => (await import("./commands/doctor.ts")).doctor,
    },
  },
};

export function findEntry(name: string): Entry | undefined {
  return Object.values(CATALOG)
    .map((group) => (Object.hasOwn(group, name) ? group[name] : undefined))
    .find((entry) => entry !== undefined);
}

/** Every command, in the order of the catalog. */
export function loadAll(): Promise<Command[]> {
  return Promise.all(Object.values(CATALOG).flatMap((group) => Object.values(group).map((entry) => entry.load())));
}

function commandNames(): string[] {
  return Object.values(CATALOG).flatMap((group) => Object.keys(group));
}

/** What other tools call a command. */
const SYNONYMS = new Map([
  ["config", "init"],
  ["console", "serve"],
  ["exec", "run"],
  ["history", "audit"],
  ["list", "ps"],
  ["pending", "approvals"],
  ["prune", "clean"],
  ["remove", "rm"],
  ["server", "serve"],
  ["start", "run"],
  ["status", "ps"],
  ["stop", "kill"],
  ["tail", "logs"],
  ["top", "stats"],
  ["ui", "serve"],
  ["version", "--version"],
]);

/** The command that an unknown name most likely means; null if none is close. */
export function suggestCommand(name: string): string | null {
  return SYNONYMS.get(name) ?? nearest(name, commandNames());
}
