import type { DatabaseSync } from "node:sqlite";
import type { Approvals } from "../approval/approvals.ts";
import type { ConfigWatch } from "../config/watch.ts";
import type { ApprovalCallback, GatewayEvent, Scope } from "../core/gateway.ts";
import type { HostAccess, SandboxCapabilities } from "../core/launch.ts";
import type { Executor } from "../executor/executor.ts";
import type { Quota } from "../sandbox/quota.ts";
import type { Registry } from "../session/registry.ts";
import type { AllowlistUse } from "../storage/allowlist-use.ts";
import type { AuditLog } from "../storage/audit.ts";
import type { Restarts } from "../storage/restarts.ts";
import type { WorkQueue } from "../storage/work.ts";

export interface WaitOptions {
  /** How long to wait for a decision; the result is `pending` after that. */
  approvalTimeoutMs: number | undefined;
  signal: AbortSignal | undefined;
}

/** Thrown instead of requesting an approval when the caller of `submit` cannot wait for one. Nothing is recorded. */
export class ApprovalRequired extends Error {}

/** The stores, executor and settings of a gateway, passed to every step of a request. */
export interface GatewayContext {
  state: string;
  workspace: string;
  agent: string;
  /** The actor in audit entries: the agent, or a person who acts for it. */
  actor: string;
  /** The surface in audit entries, such as `cli` or `mcp`. */
  channel: string;
  /** The environment of the gateway process when it was opened. Commands inherit parts of it. */
  env: Readonly<Record<string, string>>;
  config: ConfigWatch;
  database: DatabaseSync;
  restarts: Restarts;
  executor: Executor;
  /** Returns the sandbox features that can be enforced. Null when the executor cannot sandbox commands. */
  sandboxCapabilities: () => SandboxCapabilities | null;
  registry: Registry;
  approvals: Approvals;
  audit: AuditLog;
  allowlistUse: AllowlistUse;
  work: WorkQueue;
  quota: Quota;
  /** Permissions of operations for which none is configured, as set by the toolset. */
  defaultPermissions: NonNullable<Scope["tiers"]>;
  /** How long operations on sessions wait for approval. */
  waitOptions: WaitOptions;
  /** True when only the agent's own sessions are visible. */
  ownOnly: boolean;
  /** True when errors name a session by its ID, which is how a toolset refers to it, and not by its name. */
  sessionsById: boolean;
  /** The additional access of the program of an agent, if this gateway starts one. Null for a gateway of commands. */
  host: HostAccess | null;
  /** Asks the user of the host application. Null when requests are decided elsewhere. */
  approve: ApprovalCallback | null;
  notify: (event: GatewayEvent) => void;
  /** Warnings that are given once per gateway and have been given. */
  warnedOnce: Set<string>;
  /** Called between the steps of a request, for timing and for tests that kill the process there. */
  checkpoint: (step: string, session?: string) => void;
}
