import { nearest } from "../text/nearest.ts";
import type { Command } from "./command.ts";

export interface Entry {
  summary: string;
  load(): Promise<Command>;
}

/** All commands by group and name. A command's file is loaded on use, so that help and version load none of them. */
export const CATALOG: Record<string, Record<string, Entry>> = {
  Run: {
    run: {
      summary: "Run a command in a sandbox",
      load: async () => (await import("./commands/session/run.ts")).run,
    },
    agent: {
      summary: "Run an agent in a sandbox, and guard each of its commands",
      load: async () => (await import("./commands/session/agent.ts")).agent,
    },
    mcp: {
      summary: "Serve tools to an agent over the Model Context Protocol",
      load: async () => (await import("./commands/service/mcp.ts")).mcp,
    },
    sh: {
      summary: "Run commands as bash does, in a sandbox",
      load: async () => (await import("./commands/host/sh.ts")).sh,
    },
    hook: {
      summary: "Answer the hook of an agent host before it runs a command",
      load: async () => (await import("./commands/host/hook.ts")).hook,
    },
    serve: {
      summary: "Serve the web console and the HTTP API",
      load: async () => (await import("./commands/service/serve.ts")).serve,
    },
  },
  Sessions: {
    ps: { summary: "List sessions", load: async () => (await import("./commands/session/ps.ts")).ps },
    logs: {
      summary: "Print the output of a session",
      load: async () => (await import("./commands/session/logs.ts")).logs,
    },
    wait: {
      summary: "Wait for sessions to end, and exit with the last exit code",
      load: async () => (await import("./commands/session/wait.ts")).wait,
    },
    kill: {
      summary: "Send a signal to sessions and their child processes",
      load: async () => (await import("./commands/session/kill.ts")).kill,
    },
    attach: {
      summary: "Attach to the terminal of a session",
      load: async () => (await import("./commands/session/attach.ts")).attach,
    },
    "send-keys": {
      summary: "Type keys into the terminal of a session",
      load: async () => (await import("./commands/session/send-keys.ts")).sendKeys,
    },
    screen: {
      summary: "Show the terminal screen of a session",
      load: async () => (await import("./commands/session/screen.ts")).screen,
    },
    record: {
      summary: "Export a recording of a session's terminal",
      load: async () => (await import("./commands/session/record.ts")).record,
    },
    inspect: {
      summary: "Show detailed information about sessions",
      load: async () => (await import("./commands/session/inspect.ts")).inspect,
    },
    stats: {
      summary: "Show live resource usage of running sessions",
      load: async () => (await import("./commands/session/stats.ts")).stats,
    },
    rm: {
      summary: "Remove sessions and their logs",
      load: async () => (await import("./commands/session/rm.ts")).rm,
    },
  },
  "Approvals and policy": {
    check: {
      summary: "Check a command against policy without running it",
      load: async () => (await import("./commands/approval/check.ts")).check,
    },
    approvals: {
      summary: "Review approval requests",
      load: async () => (await import("./commands/approval/approvals.ts")).approvals,
    },
    approve: {
      summary: "Approve a command once, or create a standing grant for it",
      load: async () => (await import("./commands/approval/approve.ts")).approve,
    },
    deny: {
      summary: "Deny a command",
      load: async () => (await import("./commands/approval/deny.ts")).deny,
    },
    allow: {
      summary: "Manage standing grants",
      load: async () => (await import("./commands/approval/allow.ts")).allow,
    },
  },
  "Audit and queue": {
    audit: {
      summary: "Search, verify and export the audit log",
      load: async () => (await import("./commands/audit.ts")).audit,
    },
    work: {
      summary: "Process the work queue",
      load: async () => (await import("./commands/work.ts")).work,
    },
  },
  Fleet: {
    worker: {
      summary: "Run commands for a fleet on this machine",
      load: async () => (await import("./commands/service/worker.ts")).worker,
    },
    nodes: {
      summary: "List, drain and resume the workers of a fleet",
      load: async () => (await import("./commands/service/nodes.ts")).nodes,
    },
    fleet: {
      summary: "Manage the keys and permissions of a fleet",
      load: async () => (await import("./commands/service/fleet.ts")).fleet,
    },
  },
  Maintenance: {
    init: {
      summary: "Create a configuration file",
      load: async () => (await import("./commands/init.ts")).init,
    },
    setup: {
      summary: "Connect an agent host, such as Claude Code or Codex",
      load: async () => (await import("./commands/setup.ts")).setup,
    },
    doctor: {
      summary: "Check this machine and suggest fixes",
      load: async () => (await import("./commands/doctor.ts")).doctor,
    },
    service: {
      summary: "Run `serve` or `worker` as a systemd service",
      load: async () => (await import("./commands/service/service.ts")).service,
    },
    token: {
      summary: "Create, list and revoke access tokens",
      load: async () => (await import("./commands/service/token.ts")).token,
    },
    clean: {
      summary: "Remove old sessions to free disk space",
      load: async () => (await import("./commands/clean.ts")).clean,
    },
    completion: {
      summary: "Print a shell completion script",
      load: async () => (await import("./commands/completion.ts")).completionCommand(loadAll),
    },
  },
};

export function findEntry(name: string): Entry | undefined {
  return Object.values(CATALOG)
    .map((group) => (Object.hasOwn(group, name) ? group[name] : undefined))
    .find((entry) => entry !== undefined);
}

/** Loads all commands, in the order of the catalog. */
export function loadAll(): Promise<Command[]> {
  return Promise.all(Object.values(CATALOG).flatMap((group) => Object.values(group).map((entry) => entry.load())));
}

function commandNames(): string[] {
  return Object.values(CATALOG).flatMap((group) => Object.keys(group));
}

/** Names that other tools use for the same command. */
const SYNONYMS = new Map([
  ["config", "init"],
  ["connect", "setup"],
  ["console", "serve"],
  ["exec", "run"],
  ["history", "audit"],
  ["install", "setup"],
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

/** Returns the command that an unknown name most likely means, or null when none is close. */
export function suggestCommand(name: string): string | null {
  return SYNONYMS.get(name) ?? nearest(name, commandNames());
}
