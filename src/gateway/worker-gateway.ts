/** The door as a worker of a fleet uses it: commands come with their ids, and with somebody's word instead of a person. */
import { createHash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { watchConfig } from "../config/watch.ts";
import { SallyportError } from "../core/error.ts";
import type { RunRequest } from "../core/request.ts";
import type { Execution } from "../executor/execution.ts";
import { agentToken, validateName } from "../fleet/subjects.ts";
import { LocalSessions } from "../session/local-sessions.ts";
import { attestationMissing, commandRefused } from "../session/refusal.ts";
import { Session } from "../session/session.ts";
import type { AskedBy, SessionRow } from "../storage/sessions.ts";
import type { Authorization } from "./authorize.ts";
import { authorizeInput } from "./authorize-input.ts";
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
  /** Gives who says that a person said yes, or throws what is wrong with it. */
  vouch: () => NonNullable<(Authorization & { go: true })["vouched"]>;
  /** Once it is this worker's; rejected where it is another's. */
  ours: Promise<void>;
  askedBy: AskedBy;
}

const LOOK_AROUND_MS = 5000;
/** Agents and workspaces come and go; what is prepared for each is prepared again when it comes back. */
const MOST_CONTEXTS = 1000;

/** A gateway on a worker: its own state, its own operator's settings, and a workspace for each that is named. */
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
    this.#timer = setInterval(() => void context.registry.recover().catch(() => {}), LOOK_AROUND_MS).unref();
  }

  static async open(options: Omit<GatewayOptions, "workspace" | "fleet">, workspaces: string): Promise<WorkerGateway> {
    mkdirSync(workspaces, { recursive: true });
    // Whoever asked is told through the fleet: nothing is to be told here a second time.
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

  /** Judged, confined, recorded and launched by this machine's own settings (promises 1, 3 and 7). */
  async take(job: Job): Promise<Submission> {
    const { id, agent, background, vouch, ours, askedBy } = job;
    const context = this.#contextFor(agent, job.workspace);
    const { host, labels, retry, logFile, ...rest } = job.request;
    // A log named after its session goes into a folder that is made for it.
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

  /** Where a session's output is written. */
  logFolder(id: string): string {
    return join(this.#context.state, "sessions", id);
  }

  row(id: string): SessionRow | null {
    return this.#context.registry.store.get(id);
  }

  session(row: SessionRow): Session {
    const { registry, audit, channel } = this.#context;
    // Nobody waits here for a person: who asked elsewhere is told what is missing.
    const context: GatewayContext = {
      ...this.#context,
      agent: row.agent,
      waitOptions: { approvalTimeoutMs: 0, signal: undefined },
    };
    return new Session(new LocalSessions(registry), row, {
      audit: (entry) => audit.append({ agent: row.agent, actor: row.agent, channel, ...entry }),
      authorize: (operation, session, detail) => authorizeOperation(context, operation, session, detail),
      authorizeInput: (session, commands) => authorizeInput(context, session, commands),
    });
  }

  execution(id: string): Promise<Execution | null> {
    return this.#context.registry.execution(id);
  }

  /** A refused or broken request is part of the story here as well. */
  note(entry: { agent: string; session: string; outcome: string; summary: string; detail: object }): void {
    this.#context.audit.append({ kind: "fleet", actor: "fleet", channel: "fleet", ...entry });
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#context.executor.close();
    this.#context.registry.close();
    this.#context.database.close();
  }

  #contextFor(agent: string, workspace: string): GatewayContext {
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
    if (this.#prepared.size >= MOST_CONTEXTS) this.#prepared.clear();
    this.#prepared.set(key, context);
    return context;
  }
}

/** File systems let no name be longer than 255 bytes. */
const LONGEST_NAME = 200;

/** Each agent's workspaces are in a folder of its own: nobody comes to another's files by naming them (promise 7). */
function folderOf(agent: string): string {
  const token = agentToken(agent);
  return token.length <= LONGEST_NAME ? token : `=${createHash("sha256").update(agent).digest("hex")}`;
}

/** What this machine's settings forbid stays forbidden, whoever said yes elsewhere (promise 3). */
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
