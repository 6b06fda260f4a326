/** The gateway of a fleet worker. Jobs arrive with a session ID, and with an attestation instead of an approver. */

import { createHash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { watchConfig } from "../config/watch.ts";
import { SallyportError } from "../core/error.ts";
import { agentName } from "../core/names.ts";
import type { RunRequest } from "../core/request.ts";
import type { Execution } from "../executor/execution.ts";
import { agentToken, validateName } from "../fleet/subjects.ts";
import { LocalSessions } from "../session/local-sessions.ts";
import { attestationMissing, commandRefused } from "../session/refusal.ts";
import { Session } from "../session/session.ts";
import type { AskedBy, SessionRow } from "../storage/sessions.ts";
import type { Authorization } from "./authorize.ts";
import { authorizeInput, readsCode } from "./authorize-input.ts";
import { authorizeOperation } from "./authorize-operation.ts";
import type { GatewayContext } from "./context.ts";
import { isForbidden } from "./decide.ts";
import { createContext } from "./open.ts";
import type { GatewayOptions } from "./options.ts";
import type { PlannedRun } from "./plan.ts";
import { type Submission, submit } from "./submit.ts";

export interface Job {
  id: string;
  agent: string;
  workspace: string;
  background: boolean;
  request: RunRequest;
  /** Returns the gateway and the approvers that attest the approval. Throws when the attestation is not valid. */
  vouch: () => NonNullable<(Authorization & { go: true })["vouched"]>;
  /** Resolves when this worker owns the job. Rejects when another worker does. */
  ours: Promise<void>;
  askedBy: AskedBy;
}

const RECOVER_EVERY_MS = 5000;
/** The maximum number of cached contexts, one per agent and workspace. */
const MAX_CONTEXTS = 1000;

/** A gateway on a worker, with its own state folder and operator settings, and one workspace per agent and name. */
export class WorkerGateway {
  readonly #context: GatewayContext;
  readonly #workspaces: string;
  readonly #options: GatewayOptions;
  readonly #prepared = new Map<string, GatewayContext>();
  readonly #timer: NodeJS.Timeout;

  private constructor(context: GatewayContext, workspaces: string, options: GatewayOptions) {
    this.#context = context;
    this.#workspaces = workspaces;
    this.#options = options;
    this.#timer = setInterval(() => void context.registry.recover().catch(() => {}), RECOVER_EVERY_MS).unref();
  }

  static async open(options: Omit<GatewayOptions, "workspace" | "fleet">, workspaces: string): Promise<WorkerGateway> {
    mkdirSync(workspaces, { recursive: true });
    // Exits are reported to the requesting gateway through the fleet, so this gateway queues no callbacks.
    const given = { ...options, workspace: workspaces, channel: "fleet" };
    const context = await createContext(given, () => {}, { callbacks: false, here: true });
    await context.registry.recover();
    return new WorkerGateway(context, workspaces, given);
  }

  get state(): string {
    return this.#context.state;
  }

  get audit(): GatewayContext["audit"] {
    this.#context.registry.flush();
    return this.#context.audit;
  }

  get registry(): GatewayContext["registry"] {
    return this.#context.registry;
  }

  /** Submits a job: checks, sandboxes, records and launches it with this machine's settings (invariants 1, 3 and 7). */
  async take(job: Job): Promise<Submission> {
    const { id, agent, background, vouch, ours, askedBy } = job;
    const context = this.#contextFor(agent, job.workspace);
    const { host, labels, retry, logFile, ...rest } = job.request;
    // A log named after the session is written by `logFolder`, which creates the folder.
    const own = logFile !== undefined && basename(logFile) === `${id}.log`;
    const request = own || logFile === undefined ? rest : { ...rest, logFile };
    return submit(context, request, {
      id,
      background,
      ...(own ? { logFolder: dirname(logFile) } : {}),
      approvalTimeoutMs: 0,
      signal: undefined,
      vouch: (run) => vouchFor(run, vouch),
      ours,
      askedBy: JSON.stringify(askedBy),
    });
  }

  /** Returns the folder of a session's output. */
  logFolder(id: string): string {
    return join(this.#context.state, "sessions", id);
  }

  row(id: string): SessionRow | null {
    return this.#context.registry.store.get(id);
  }

  session(row: SessionRow): Session {
    const { registry, audit, channel } = this.#context;
    // A worker does not wait for approval: the requesting gateway gets the error immediately.
    const context: GatewayContext = {
      ...this.#context,
      agent: row.agent,
      waitOptions: { approvalTimeoutMs: 0, signal: undefined },
    };
    return new Session(new LocalSessions(registry), row, {
      label: row.name,
      audit: (entry) => audit.append({ agent: row.agent, actor: row.agent, channel, ...entry }),
      authorize: (operation, session, detail) => authorizeOperation(context, operation, session, detail),
      authorizeInput: (session, input) => authorizeInput(context, session, input),
      readsCode: (session) => readsCode(context, session),
    });
  }

  execution(id: string): Promise<Execution | null> {
    return this.#context.registry.execution(id);
  }

  /** Writes an audit entry about a rejected or invalid message from the fleet. */
  note(entry: { agent: string; session: string; outcome: string; summary: string; detail: object }): void {
    this.#context.audit.append({ kind: "fleet", actor: "fleet", channel: "fleet", ...entry });
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#context.executor.close();
    this.#context.registry.close();
    this.#context.restarts.closed();
    this.#context.database.close();
  }

  #contextFor(name: string, workspace: string): GatewayContext {
    const agent = agentName(name);
    const key = `${agent}\0${workspace}`;
    const known = this.#prepared.get(key);
    if (known) return known;
    const folder = join(this.#workspaces, folderOf(agent), validateName("workspace", workspace));
    mkdirSync(folder, { recursive: true });
    const { policy: given = {}, configuration } = this.#options;
    const config = watchConfig({
      workspace: folder,
      given,
      ...(configuration === undefined ? {} : { operatorPath: configuration }),
    });
    const context: GatewayContext = { ...this.#context, agent, workspace: folder, config };
    if (this.#prepared.size >= MAX_CONTEXTS) this.#prepared.clear();
    this.#prepared.set(key, context);
    return context;
  }
}

/** File systems limit names to 255 bytes. */
const MAX_NAME_LENGTH = 200;

/** Returns the folder name for an agent's workspaces, so that agents cannot reach each other's files (invariant 7). */
function folderOf(agent: string): string {
  const token = agentToken(agent);
  return token.length <= MAX_NAME_LENGTH ? token : `=${createHash("sha256").update(agent).digest("hex")}`;
}

/** Authorizes a run based on its attestation, which cannot override this machine's own policy (invariant 3). */
function vouchFor({ verdict }: PlannedRun, vouch: Job["vouch"]): Authorization {
  if (isForbidden(verdict)) return { go: false, refusal: commandRefused(verdict), approvalId: null };
  if (verdict.verdict === "allow") return { go: true, approval: null, grants: [] };
  try {
    return { go: true, approval: null, grants: [], vouched: vouch() };
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error;
    return { go: false, refusal: attestationMissing(verdict, error), approvalId: null };
  }
}
