import type { Network } from "../confine/network.ts";
import type { FleetGatewayOptions } from "../executor/fleet/executor.ts";
import type { AllowEntry, Policy, UserRule } from "../policy/policy.ts";
import type { ASK, DURABILITY, OPERATIONS, PERMISSION, QUORUM, SANDBOX, SCOPE, SECURITY, TOOLSETS } from "./choices.ts";

type OneOf<List extends readonly string[]> = List[number];
export type Permission = OneOf<typeof PERMISSION>;
export type Operation = OneOf<typeof OPERATIONS>;
export type Toolset = OneOf<typeof TOOLSETS>;
export type Sandbox = OneOf<typeof SANDBOX>;

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

/** The part of the settings that src/policy judges by. */
export function policyOf({ security, ask, rules, allowlist, safeBins, allowDenied }: Settings): Policy {
  return { security, ask, rules, allowlist, safeBins, permits: allowDenied };
}
