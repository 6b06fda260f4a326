import type { CleanReport, GatewayHandle, ListQuery, Retention } from "../contract/gateway.ts";
import type { RunRequest } from "../contract/request.ts";
import type { RunResult } from "../contract/result.ts";
import type { SessionInfo } from "../contract/session.ts";
import type { Execution } from "../executor/executor.ts";
import { runResult } from "../present/run-result.ts";
import { findSession } from "../session/find.ts";
import { clean } from "../session/retention.ts";
import { Session } from "../session/session.ts";
import { killOrder } from "../session/signals.ts";
import type { Rooms } from "./rooms.ts";
import { submit } from "./submit.ts";

/** The object callers hold. Every method is a door to a room; the story of a command is in submit.ts. */
export class Gateway implements GatewayHandle {
  readonly #rooms: Rooms;
  readonly #timer: NodeJS.Timeout;

  constructor(rooms: Rooms, timer: NodeJS.Timeout) {
    this.#rooms = rooms;
    this.#timer = timer;
  }

  get state(): string {
    return this.#rooms.state;
  }

  async run(request: RunRequest, options: { signal?: AbortSignal } = {}): Promise<RunResult> {
    options.signal?.throwIfAborted();
    const { name, session, execution } = await submit(this.#rooms, request, false);
    const release = execution.hold();
    const stop = endOnAbort(execution, options.signal);
    const ending = await execution.exited;
    stop();
    release();
    return runResult(name, session, ending, this.#rooms.executor.folder(session.id));
  }

  async start(request: RunRequest, { foreground = false }: { foreground?: boolean } = {}): Promise<Session> {
    const { id, name, execution } = await submit(this.#rooms, request, !foreground);
    const release = execution.hold();
    await execution.started;
    release();
    return new Session(this.#rooms.registry, { id, name });
  }

  session(reference: string): Session {
    return new Session(this.#rooms.registry, findSession(this.#rooms.registry.store, reference));
  }

  list(query: ListQuery = {}): SessionInfo[] {
    const { registry } = this.#rooms;
    const wanted = query.status === undefined ? null : [query.status].flat();
    const infos = registry.store.list(query).map((row) => registry.info(row));
    // A row that said "running" may have been settled just now.
    return wanted ? infos.filter((info) => wanted.includes(info.status)) : infos;
  }

  count(query: ListQuery = {}): number {
    return this.#rooms.registry.store.count(query);
  }

  async clean(retention: Partial<Retention> = {}): Promise<CleanReport> {
    return clean(this.#rooms.registry, { ...this.#rooms.retention, ...retention });
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#rooms.executor.close();
    this.#rooms.database.close();
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
