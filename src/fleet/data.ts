import { SallyportError } from "../core/error.ts";
import type { FollowQuery, LogSlice } from "../core/gateway.ts";
import type { RunResult } from "../core/result.ts";
import type { LogChunk, LogQuery, SessionInfo, StreamName, WaitConditions, WaitOutcome } from "../core/session.ts";
import type { Repaint, Screen } from "../core/terminal.ts";
import type { Execution, ExecutionOutcome } from "../executor/execution.ts";
import type { SessionRef } from "../executor/executor.ts";
import type { LiveUsage, SessionData, TerminalHistory } from "../executor/session-data.ts";
import type { NewSession } from "../storage/sessions.ts";
import type { FleetClient } from "./client.ts";
import { registrySilent, sessionNotThere } from "./errors.ts";
import type { FleetExecution } from "./execution.ts";
import { requestValue, streamResponse } from "./response-stream.ts";

const NO_USAGE: LiveUsage = {
  usage: { cpuMs: 0, memoryPeakBytes: 0, ioReadBytes: 0, ioWriteBytes: 0 },
  processes: [],
};

/** A snapshot older than this is refreshed when it is read. */
const SNAPSHOT_MAX_AGE_MS = 200;
/** Maximum number of times that following a log is resumed after its worker restarted. */
const MAX_RESUMES = 20;

/** The last known state of a session, which synchronous methods return. */
export interface SessionSnapshot {
  streams: SessionInfo["streams"];
  terminal: TerminalHistory | null;
  live: LiveUsage | null;
  atMs: number;
}

/** The parts of the executor that reading a session needs. */
interface DataContext {
  client(): Promise<FleetClient>;
  execution(id: string): FleetExecution | undefined;
  snapshots: Map<string, SessionSnapshot>;
  /** Downloads the archived logs of a session. Resolves to null when there are none. */
  archived(session: SessionRef): Promise<SessionData | null>;
}

/** Reads the data of a session from the worker that has it. */
export class FleetData implements SessionData {
  readonly #session: SessionRef;
  readonly #context: DataContext;

  constructor(session: SessionRef, context: DataContext) {
    this.#session = session;
    this.#context = context;
  }

  streams(): SessionInfo["streams"] {
    return this.#snapshot()?.streams ?? {};
  }

  terminal(): TerminalHistory | null {
    if (this.#session.capture !== "merged") return null;
    return this.#context.execution(this.#session.id)?.terminal ?? this.#snapshot()?.terminal ?? null;
  }

  size(): undefined {
    return undefined;
  }

  result(name: string, session: Omit<NewSession, "name">, ending: ExecutionOutcome): RunResult | Promise<RunResult> {
    const reported = typeof ending === "string" ? undefined : ending.account?.result;
    if (reported) return this.#withOwnIdentity(reported, name);
    return this.#fetchResult(name, session, ending);
  }

  /** Replaces the ID and name that the worker uses for the session with this gateway's. */
  #withOwnIdentity(result: RunResult, name: string): RunResult {
    return { ...result, id: this.#session.id, name, verdict: null, approvalId: null };
  }

  async #fetchResult(name: string, session: Omit<NewSession, "name">, ending: ExecutionOutcome): Promise<RunResult> {
    const account = typeof ending === "string" ? undefined : ending.account;
    const record = typeof ending === "string" ? null : ending;
    // A command that never ran has no output to read.
    const ran = ending === "detached" || (record !== null && record.pid > 0);
    const result = ran ? ((await this.#request("result", {}).catch(() => null)) as RunResult | null) : null;
    const base = result ?? emptyResult(session);
    const status = ending === "detached" ? "running" : ending === "lost" ? "lost" : (account?.status ?? base.status);
    return {
      ...this.#withOwnIdentity(base, name),
      status,
      ...(account
        ? { warnings: account.warnings, hints: account.hints, error: account.error as RunResult["error"] }
        : {}),
    };
  }

  async tail(maxBytes: number): Promise<string> {
    return String(await this.#request("tail", { maxBytes }));
  }

  /** Returns an empty string: the worker sends the tail of stderr with the exit report. */
  errorTail(): string {
    return "";
  }

  forCallback(): { logPath: string | null; lastLines: string[] } {
    return { logPath: null, lastLines: [] };
  }

  async logs(query: LogQuery, live: boolean): Promise<LogSlice> {
    const archived = await this.#archived();
    if (archived) return archived.logs(query, live);
    const slice = (await this.#request("logs", query)) as LogSlice & { chunks: (LogChunk & { bytes: string })[] };
    const chunks = slice.chunks.map((chunk) => ({ ...chunk, bytes: Buffer.from(chunk.bytes as never, "base64") }));
    return { ...slice, chunks };
  }

  async *read(query: LogQuery, live: boolean): AsyncGenerator<LogChunk, void, undefined> {
    const archived = await this.#archived();
    if (archived) yield* archived.read(query, live);
    else yield* this.#chunks("read", query);
  }

  /**
   * Follows the output. After a restart of the worker it resumes at the last offset, without repeating or skipping
   * bytes.
   */
  async *follow(
    query: Omit<FollowQuery, "signal">,
    execution: Execution | null,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<LogChunk, void, undefined> {
    const archived = execution ? null : await this.#archived();
    if (archived) return yield* archived.follow(query, null, signal);
    const after: Partial<Record<StreamName, number>> = { ...query.after };
    for (let resumes = 0; ; resumes++) {
      const from = resumes === 0 ? query : { ...query, after };
      try {
        for await (const chunk of this.#chunks("follow", from, signal)) {
          after[chunk.stream] = chunk.offset + chunk.bytes.length;
          yield chunk;
        }
        return;
      } catch (error) {
        const retry = error instanceof SallyportError && error.type === "HostSilent" && resumes < MAX_RESUMES;
        if (signal?.aborted) return;
        if (!retry || (Object.keys(after).length === 0 && !(await this.#isHostAlive()))) throw error;
      }
    }
  }

  async waitFor(_execution: Execution | null, conditions: WaitConditions): Promise<Omit<WaitOutcome, "info">> {
    const { signal, pattern, ...rest } = conditions;
    const args = { ...rest, ...(pattern ? { pattern: { source: pattern.source, flags: pattern.flags } } : {}) };
    const found = await this.#request("waitFor", args, signal);
    return found as Omit<WaitOutcome, "info">;
  }

  async screen(session: { id: string; name: string }, options: object): Promise<Screen> {
    const archived = await this.#archived();
    return archived ? archived.screen(session, options) : ((await this.#request("screen", options)) as Screen);
  }

  async repaint(session: { id: string; name: string }): Promise<Repaint> {
    const archived = await this.#archived();
    if (archived) return archived.repaint(session);
    const { output, ...rest } = (await this.#request("repaint", {})) as Omit<Repaint, "output"> & { output: string };
    return { ...rest, output: Buffer.from(output, "base64") };
  }

  async *recording(session: {
    id: string;
    name: string;
    command: string;
    startedAt: string;
  }): AsyncGenerator<string, void, undefined> {
    const archived = await this.#archived();
    if (archived) return yield* archived.recording(session);
    const { client, host } = await this.#worker();
    for await (const frame of streamResponse(client, host, "recording", { ...this.#target(), args: {} })) {
      if (frame.kind === "value") yield String(frame.value);
    }
  }

  usage(): LiveUsage {
    return this.#snapshot()?.live ?? NO_USAGE;
  }

  #target(): { id: string; agent: string } {
    return { id: this.#session.id, agent: this.#session.agent };
  }

  async #request(operation: string, args: unknown, signal?: AbortSignal): Promise<unknown> {
    const { client, host } = await this.#worker();
    return requestValue(client, host, operation, { ...this.#target(), args }, signal);
  }

  async *#chunks(operation: string, args: unknown, signal?: AbortSignal): AsyncGenerator<LogChunk, void, undefined> {
    const { client, host } = await this.#worker();
    for await (const frame of streamResponse(client, host, operation, { ...this.#target(), args }, signal)) {
      if (frame.kind === "chunk") yield { ...(frame.head as Omit<LogChunk, "bytes">), bytes: frame.bytes };
    }
  }

  async #worker(): Promise<{ client: FleetClient; host: string }> {
    const client = await this.#context.client();
    const { id, agent } = this.#session;
    const known = this.#context.execution(id)?.host ?? this.#session.host ?? null;
    const host = known ?? (await client.registry.read(agent, id).catch(asFleetError))?.entry.host ?? null;
    if (host === null) throw new SallyportError("SessionNotFound", ...sessionNotThere(id, "in the fleet"));
    return { client, host };
  }

  async #isHostAlive(): Promise<boolean> {
    const { client, host } = await this.#worker();
    return (await client.hosts.get(host).catch(() => null)) !== null;
  }

  /**
   * Returns the archived logs if the worker is down. Null means that the worker must be queried, because it is up, the
   * archive has no logs, or the heartbeats cannot be read.
   */
  async #archived(): Promise<SessionData | null> {
    const { client, host } = await this.#worker();
    if (this.#context.execution(this.#session.id) || (await client.hosts.get(host).catch(() => "unknown"))) return null;
    return this.#context.archived(this.#session).catch(asFleetError);
  }

  /** Returns the last known snapshot, and starts a refresh when it is too old. */
  #snapshot(): SessionSnapshot | undefined {
    const { snapshots } = this.#context;
    const { id } = this.#session;
    const before = snapshots.get(id);
    const wanted = before
      ? performance.now() > before.atMs + SNAPSHOT_MAX_AGE_MS
      : this.#context.execution(id) !== undefined;
    if (wanted) {
      // Stored at once, so that concurrent reads start only one refresh.
      snapshots.set(id, { streams: {}, terminal: null, live: null, ...before, atMs: performance.now() });
      void this.refreshSnapshot().catch(() => {});
    }
    return before;
  }

  async refreshSnapshot(): Promise<void> {
    const { snapshots } = this.#context;
    const snapshot = (await this.#request("glimpse", {})) as Omit<SessionSnapshot, "atMs">;
    snapshots.delete(this.#session.id);
    snapshots.set(this.#session.id, { ...snapshot, atMs: performance.now() });
    for (const oldest of snapshots.keys()) {
      if (snapshots.size <= MAX_SNAPSHOTS) break;
      snapshots.delete(oldest);
    }
  }
}

const MAX_SNAPSHOTS = 10_000;

/** Replaces errors of the servers, which do not say what to do next (invariant 8). */
function asFleetError(error: Error): never {
  throw error instanceof SallyportError
    ? error
    : new SallyportError("FleetUnreachable", ...registrySilent(error.message));
}

function emptyResult(session: Omit<NewSession, "name">): RunResult {
  return {
    id: session.id,
    name: "",
    status: "failed",
    exitCode: null,
    signal: null,
    stdout: "",
    stderr: "",
    output: "",
    durationMs: 0,
    timedOut: false,
    truncated: { stdout: 0, stderr: 0 },
    leftover: 0,
    resourceUsage: null,
    verdict: null,
    approvalId: null,
    sandbox: "",
    warnings: [],
    hints: [],
    error: null,
  };
}
