import type { Approvals } from "../approval/approvals.ts";
import { confine } from "../confine/confine.ts";
import type { CheckOptions, CleanReport, ListQuery, Retention, RunOptions } from "../contract/gateway.ts";
import type { RunRequest } from "../contract/request.ts";
import type { RunResult } from "../contract/result.ts";
import type { SessionInfo } from "../contract/session.ts";
import type { Verdict } from "../contract/verdict.ts";
import type { Execution } from "../executor/executor.ts";
import { refusedResult, runResult } from "../present/run-result.ts";
import { gatewayClosed } from "../present/session-errors.ts";
import { findSession } from "../session/find.ts";
import { clean } from "../session/retention.ts";
import { Session } from "../session/session.ts";
import { killOrder } from "../session/signals.ts";
import type { AuditLog } from "../store/audit.ts";
import type { WorkQueue } from "../store/work.ts";
import { judge } from "./judge.ts";
import { insistOnTier, permitOperation } from "./operation.ts";
import type { Rooms } from "./rooms.ts";
import { inForce } from "./settings.ts";
import { submit } from "./submit.ts";
import type { Upkeep } from "./upkeep.ts";

/** The object callers hold. Every method is a door to a room; the story of a command is in submit.ts. */
export class Gateway {
  readonly #furnished: Rooms;
  readonly #retention: () => Retention;
  readonly #upkeep: Upkeep;
  #closed: Promise<void> | null = null;

  constructor(rooms: Rooms, retention: () => Retention, upkeep: Upkeep) {
    this.#furnished = rooms;
    this.#retention = retention;
    this.#upkeep = upkeep;
  }

  get #rooms(): Rooms {
    if (this.#closed === null) return this.#furnished;
    throw gatewayClosed();
  }

  get state(): string {
    return this.#rooms.state;
  }

  get approvals(): Approvals {
    return this.#rooms.approvals;
  }

  get audit(): AuditLog {
    this.#rooms.registry.flush();
    return this.#rooms.audit;
  }

  get work(): WorkQueue {
    this.#rooms.registry.flush();
    return this.#rooms.work;
  }

  async run(request: RunRequest, { signal, patienceMs }: RunOptions = {}): Promise<RunResult> {
    signal?.throwIfAborted();
    const submission = await submit(this.#rooms, request, { background: false, signal, patienceMs });
    if (!submission.execution) return refusedResult(submission, submission.refusal);
    const { name, session, execution, verdict, approvalId } = submission;
    const release = execution.hold();
    const stop = endOnAbort(execution, signal);
    const ending = await execution.exited;
    stop();
    release();
    const result = runResult(name, session, ending, this.#furnished.executor.folder(session.id));
    result.verdict = verdict;
    result.approvalId = approvalId;
    return result;
  }

  async start(request: RunRequest, options: RunOptions & { foreground?: boolean } = {}): Promise<Session> {
    const { foreground = false, signal, patienceMs } = options;
    signal?.throwIfAborted();
    const { name, session, execution } = await submit(this.#rooms, request, {
      background: !foreground,
      signal,
      patienceMs,
    });
    const release = execution?.hold();
    await execution?.started;
    release?.();
    return this.#session({ id: session.id, name });
  }

  check(command: string | string[], options: CheckOptions = {}): Verdict {
    const { settings, confinement } = inForce(this.#rooms);
    const [file = "", ...args] = Array.isArray(command) ? command : [command];
    const request = { command: file, ...(Array.isArray(command) ? { args } : {}), ...options };
    const { cwd, env } = confine(request, confinement);
    return judge(request, { cwd, env, path: env.PATH ?? "" }, settings, {
      agent: this.#rooms.agent,
      workspace: confinement.scope.root,
    });
  }

  session(reference: string): Session {
    return this.#session(findSession(this.#rooms.registry.store, reference));
  }

  list(query: ListQuery = {}): SessionInfo[] {
    const { registry } = this.#rooms;
    insistOnTier(this.#rooms, "list");
    const wanted = query.status === undefined ? null : [query.status].flat();
    const infos = registry.store.list(query).map((row) => registry.info(row));
    // A row that said "running" may have been settled just now.
    return infos.filter(
      ({ status, lingering }) =>
        (!wanted || wanted.includes(status)) && (!query.live || status === "running" || lingering),
    );
  }

  count(query: ListQuery = {}): number {
    return this.#rooms.registry.store.count(query);
  }

  async clean(retention: Partial<Retention> = {}): Promise<CleanReport> {
    return clean(this.#rooms.registry, { ...this.#retention(), ...retention });
  }

  #session(row: { id: string; name: string }): Session {
    const { registry, audit, agent, channel } = this.#rooms;
    return new Session(registry, row, {
      // About the agent whose command it is, which may be another's than who acts.
      note: (entry) =>
        audit.append({ agent: registry.store.get(row.id)?.agent ?? agent, actor: agent, channel, ...entry }),
      permit: (operation, session, detail) => permitOperation(this.#rooms, operation, session, detail),
    });
  }

  /** Lets go of everything and ends nothing: what `run` waits for resolves as `running`. Closing again is fine. */
  close(): Promise<void> {
    this.#closed ??= this.#letGo();
    return this.#closed;
  }

  async #letGo(): Promise<void> {
    await this.#upkeep.stop();
    await this.#furnished.executor.close();
    this.#furnished.registry.close();
    this.#furnished.database.close();
  }
}

/** Aborting ends the command and everything it started. */
function endOnAbort(execution: Execution, signal: AbortSignal | undefined): () => void {
  if (!signal) return () => {};
  const end = () => void execution.kill(killOrder("SIGTERM", 2000));
  if (signal.aborted) end(); // while it was being launched: no event will tell of it
  signal.addEventListener("abort", end, { once: true });
  return () => signal.removeEventListener("abort", end);
}
