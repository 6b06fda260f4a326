import type { AllowEntry, UserRule } from "./policy.ts";

/** The network access of a sandboxed command: all, none, or the listed TCP ports. */
export type Network = "on" | "off" | { readonly ports: readonly number[] };

/** Reports whether `asked` allows no more than `than`. */
export function isNetworkWithin(asked: Network, than: Network): boolean {
  if (than === "on" || asked === "off") return true;
  if (than === "off" || asked === "on") return false;
  return asked.ports.every((port) => than.ports.includes(port));
}

/** Returns the access that both allow. */
export function intersectNetworks(one: Network, other: Network): Network {
  if (isNetworkWithin(one, other)) return one;
  if (isNetworkWithin(other, one)) return other;
  const shared = typeof other === "object" ? other.ports : [];
  return { ports: typeof one === "object" ? one.ports.filter((port) => shared.includes(port)) : [] };
}

/** The fleet that runs a gateway's commands. See docs/fleet.md. */
export interface FleetGatewayOptions extends FleetOptions {
  /** The name of the workspace on the workers. Default: derived from the gateway's workspace folder. */
  workspace?: string | undefined;
  /**
   * Whether all sessions run on the host that has the workspace's files. If false, they can run on any host. Default:
   * true.
   */
  sticky?: boolean | undefined;
  /** How long a command waits for a worker with a free slot, in milliseconds. Default: 600,000. */
  claimWithinMs?: number | undefined;
}

/** The allowed values of settings in sallyport.json. They are not part of the schema, which few files need. */
export const SECURITY = ["deny", "allowlist", "full"] as const;
export const ASK = ["off", "on-miss", "always"] as const;
export const SANDBOX = ["off", "workspace-write", "read-only", "isolated"] as const;
export const NETWORK = ["on", "off"] as const;
export const MASK_FAILURE = ["kill", "warn"] as const;
export const SCOPE = ["workspace", "anywhere"] as const;
export const PERMISSION = ["autonomous", "notify", "ask", "deny"] as const;
export const QUORUM = ["any", "majority", "unanimous"] as const;
/** What may decide and grant on the command line: a person on a terminal, also a script, or also an agent host. */
export const COMMAND_LINE = ["terminal", "script", "anywhere"] as const;
export type CommandLineUse = OneOf<typeof COMMAND_LINE>;
export const DURABILITY = ["process", "power-loss"] as const;
export const TOOLSETS = ["runner", "process", "exec", "shell", "bash"] as const;
/** The operations that have a configurable permission. */
export const OPERATIONS = ["run", "write", "kill", "extend", "remove", "list", "read"] as const;

type OneOf<List extends readonly string[]> = List[number];
/** The permission of an operation; the same values as `Tier`. */
export type Permission = OneOf<typeof PERMISSION>;
/** An operation that has a configurable permission. */
export type Operation = OneOf<typeof OPERATIONS>;
/** The name of a toolset; the same values as `ToolsetName`. */
export type Toolset = OneOf<typeof TOOLSETS>;
type Sandbox = OneOf<typeof SANDBOX>;

/**
 * The effective settings of one agent after all files are merged. Every field is set, so no other code applies
 * defaults.
 */
export interface Settings {
  security: OneOf<typeof SECURITY>;
  ask: OneOf<typeof ASK>;
  sandbox: Sandbox;
  network: Network;
  /** Paths that are absolute, start with `~`, or are relative to the workspace. */
  writable: readonly string[];
  /** Built-in denied paths, or folders above them, that commands may read. */
  readable: readonly string[];
  denied: readonly string[];
  /** Unix sockets, or folders of them, that sandboxed commands can connect to. Paths as in `writable`. */
  sockets: readonly string[];
  /** Null for the gateway's user. */
  user: string | null;
  /** True to require the whole sandbox, false to run commands even if nothing confines them, null for neither. */
  require: boolean | null;
  maskFailure: OneOf<typeof MASK_FAILURE>;
  scope: OneOf<typeof SCOPE>;
  rules: readonly UserRule[];
  allowlist: readonly AllowEntry[];
  /** The safe programs; null for all built-in ones. */
  safeBins: readonly string[] | null;
  allowDenied: readonly string[];
  env: { pass: readonly string[]; block: readonly string[] };
  limits: {
    processes: number;
    cpu: number | null;
    memoryBytes: number | null;
    diskBytes: number | null;
    openFiles: number | null;
    fileSize: number | null;
    sessions: number;
    startsPerMinute: number;
  };
  timeouts: { defaultSeconds: number | null; maxSeconds: number | null };
  retention: { maxAgeHours: number; maxCount: number; maxBytes: number };
  approvals: {
    expiresMinutes: number;
    quorum: { rule: OneOf<typeof QUORUM>; approvers: readonly string[] };
    commandLine: CommandLineUse;
  };
  /** Null for the toolset's default. */
  permissions: Record<Operation, Permission | null>;
  toolsets: Record<Toolset, boolean>;
  callback: {
    command?: readonly string[];
    webhook?: { url: string; secretFile: string };
    dbos?: { urlFile: string; queue: string; workflow: string; workflowClass?: string };
  } | null;
  /** Null when commands run on this machine. */
  fleet: FleetGatewayOptions | null;
  durability: OneOf<typeof DURABILITY>;
}

export const DEFAULTS: Settings = {
  security: "full",
  ask: "on-miss",
  sandbox: "workspace-write",
  network: "on",
  writable: [],
  readable: [],
  denied: [],
  sockets: [],
  user: null,
  require: null,
  maskFailure: "kill",
  scope: "workspace",
  rules: [],
  allowlist: [],
  safeBins: null,
  allowDenied: [],
  env: { pass: [], block: [] },
  limits: {
    processes: 2048,
    cpu: null,
    memoryBytes: null,
    diskBytes: null,
    openFiles: null,
    fileSize: null,
    sessions: 64,
    startsPerMinute: 600,
  },
  timeouts: { defaultSeconds: null, maxSeconds: null },
  retention: { maxAgeHours: 336, maxCount: 10_000, maxBytes: 10 * 1024 ** 3 },
  approvals: { expiresMinutes: 30, quorum: { rule: "any", approvers: [] }, commandLine: "terminal" },
  permissions: { run: null, write: null, kill: null, extend: null, remove: null, list: null, read: null },
  toolsets: { runner: true, process: true, exec: false, shell: true, bash: true },
  callback: null,
  fleet: null,
  durability: "process",
};

/** The connection to a fleet. */
export interface FleetOptions {
  /** One or more servers of a cluster, such as `nats://10.0.0.1:4222`. */
  servers: string | readonly string[];
  /** The name of the fleet, which distinguishes it from other fleets on the same servers. Default: `main`. */
  name?: string | undefined;
  /** The name of this gateway or worker. Default: the host name. */
  as?: string | undefined;
  /** The path of a file with an nkey seed, or with a user JWT and its seed (`.creds`). */
  credentials?: string | undefined;
  /** The paths of the certificate and key files. TLS is required if this is set, even to `{}`. */
  tls?: { ca?: string | undefined; cert?: string | undefined; key?: string | undefined } | undefined;
}
