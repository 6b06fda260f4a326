import type { DatabaseSync } from "node:sqlite";
import type { Approvals } from "../approval/approvals.ts";
import type { ConfigWatch } from "../config/watch.ts";
import type { ApprovalCallback, GatewayEvent, Scope } from "../core/gateway.ts";
import type { SandboxCapabilities } from "../core/launch.ts";
import type { Executor } from "../executor/executor.ts";
import type { Quota } from "../sandbox/quota.ts";
import type { Registry } from "../session/registry.ts";
import type { AllowlistUse } from "../storage/allowlist-use.ts";
import type { AuditLog } from "../storage/audit.ts";
import type { WorkQueue } from "../storage/work.ts";

export interface WaitOptions {
  /** How long to wait for a person; then the answer is `pending`. */
  approvalTimeoutMs: number | undefined;
  signal: AbortSignal | undefined;
}

/** What the gateway holds together; the steps of a request take what they need from here. */
export interface GatewayContext {
  state: string;
  workspace: string;
  agent: string;
  /** Who really asks, for the audit: the agent itself, or a person who acts in its place. */
  actor: string;
  /** The surface through which requests come, for the audit. */
  channel: string;
  /** The gateway's own environment as it was when it was opened; commands get a part of it. */
  env: Readonly<Record<string, string>>;
  config: ConfigWatch;
  database: DatabaseSync;
  executor: Executor;
  /** What there is to confine commands with; null: this executor cannot. */
  sandboxCapabilities: () => SandboxCapabilities | null;
  registry: Registry;
  approvals: Approvals;
  audit: AuditLog;
  allowlistUse: AllowlistUse;
  work: WorkQueue;
  quota: Quota;
  /** Where nothing is configured, what an operation needs: the toolset's own, if the request comes through one. */
  defaultPermissions: NonNullable<Scope["tiers"]>;
  /** How long operations on sessions wait for a person. */
  waitOptions: WaitOptions;
  /** Only the agent's own sessions are to be found. */
  ownOnly: boolean;
  /** The host's way to ask its user; null: a person decides elsewhere. */
  approve: ApprovalCallback | null;
  notify: (event: GatewayEvent) => void;
  /** What was said once and need not be again. */
  warnedOnce: Set<string>;
  /** Called between the steps of a request, to tell how long each takes; tests die here. */
  checkpoint: (step: string, session?: string) => void;
}
