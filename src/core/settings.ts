import type { AllowEntry, UserRule } from "./policy.ts";

/** What of the network a confined command reaches: all of it, nothing, or listed TCP ports only. */
export type Network = "on" | "off" | { readonly ports: readonly number[] };

export function isNetworkWithin(asked: Network, than: Network): boolean {
  if (than === "on" || asked === "off") return true;
  if (than === "off" || asked === "on") return false;
  return asked.ports.every((port) => than.ports.includes(port));
}

/** What both reach. */
export function intersectNetworks(one: Network, other: Network): Network {
  if (isNetworkWithin(one, other)) return one;
  if (isNetworkWithin(other, one)) return other;
  const shared = typeof other === "object" ? other.ports : [];
  return { ports: typeof one === "object" ? one.ports.filter((port) => shared.includes(port)) : [] };
}

export interface FleetGatewayOptions extends FleetOptions {
  /** The name of the workspace on the workers; by default made from the gateway's own folder. */
  workspace?: string | undefined;
  /** Its sessions all run on the host that has its files (default). False: each may run anywhere, whatever is there. */
  sticky?: boolean | undefined;
  /** So long may a command wait for a worker with a free slot; default ten minutes. */
  claimWithinMs?: number | undefined;
}

/** What there is to choose from in sallyport.json. Apart from its schema: many need to know, few need to check. */
export const SECURITY = ["deny", "allowlist", "full"] as const;
export const ASK = ["off", "on-miss", "always"] as const;
export const SANDBOX = ["off", "workspace-write", "read-only", "isolated"] as const;
export const NETWORK = ["on", "off"] as const;
export const SCOPE = ["workspace", "anywhere"] as const;
export const PERMISSION = ["autonomous", "notify", "ask", "deny"] as const;
export const QUORUM = ["any", "majority", "unanimous"] as const;
export const DURABILITY = ["process", "power-loss"] as const;
export const TOOLSETS = ["runner", "process", "exec", "shell", "bash"] as const;
/** What can be done through the door; tiers of permission are given per operation. */
export const OPERATIONS = ["run", "write", "kill", "extend", "remove", "list", "read"] as const;

type OneOf<List extends readonly string[]> = List[number];
export type Permission = OneOf<typeof PERMISSION>;
export type Operation = OneOf<typeof OPERATIONS>;
export type Toolset = OneOf<typeof TOOLSETS>;
type Sandbox = OneOf<typeof SANDBOX>;
/** What holds for one agent once all files are read: complete, so that nobody else has to know a default. */
export interface Settings {
  security: OneOf<typeof SECURITY>;
  ask: OneOf<typeof ASK>;
  sandbox: Sandbox;
  network: Network;
  /** Absolute, beginning with `~`, or in the workspace. */
  writable: readonly string[];
  denied: readonly string[];
  /** Null: as the gateway's own. */
  user: string | null;
  require: boolean;
  scope: OneOf<typeof SCOPE>;
  rules: readonly UserRule[];
  allowlist: readonly AllowEntry[];
  /** Null: all that are built in. */
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
  approvals: { expiresMinutes: number; quorum: { rule: OneOf<typeof QUORUM>; approvers: readonly string[] } };
  /** Null: the toolset's own. */
  permissions: Record<Operation, Permission | null>;
  toolsets: Record<Toolset, boolean>;
  callback: {
    command?: readonly string[];
    webhook?: { url: string; secretFile: string };
    dbos?: { urlFile: string; queue: string; workflow: string; workflowClass?: string };
  } | null;
  /** Null: commands run on this machine. */
  fleet: FleetGatewayOptions | null;
  durability: OneOf<typeof DURABILITY>;
}

export const DEFAULTS: Settings = {
  security: "full",
  ask: "on-miss",
  sandbox: "workspace-write",
  network: "on",
  writable: [],
  denied: [],
  user: null,
  require: false,
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
  approvals: { expiresMinutes: 30, quorum: { rule: "any", approvers: [] } },
  permissions: { run: null, write: null, kill: null, extend: null, remove: null, list: null, read: null },
  toolsets: { runner: true, process: true, exec: false, shell: true, bash: true },
  callback: null,
  fleet: null,
  durability: "process",
};

/** How to reach a fleet. */
export interface FleetOptions {
  /** Such as nats://10.0.0.1:4222; several of one cluster. */
  servers: string | readonly string[];
  /** Several fleets can share servers; default `main`. */
  name?: string | undefined;
  /** Who this is among the members; default the machine's name. */
  as?: string | undefined;
  /** A file: an nkey seed, or a user's JWT with its seed (`.creds`). */
  credentials?: string | undefined;
  /** Files. With any of them, or with {}, only TLS will do. */
  tls?: { ca?: string | undefined; cert?: string | undefined; key?: string | undefined } | undefined;
}
