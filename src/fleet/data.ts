import { SallyportError } from "../core/error.ts";
import type { FollowQuery, LogSlice } from "../core/gateway.ts";
import type { RunResult } from "../core/result.ts";
import type { LogChunk, LogQuery, SessionInfo, StreamName } from "../core/session.ts";
import type { Repaint, Screen, WaitConditions, WaitOutcome } from "../core/terminal.ts";
import type { LiveUsage, SessionData, TerminalStory } from "../executor/data.ts";
import type { Execution, Located, Parting } from "../executor/executor.ts";
import type { NewSession } from "../storage/sessions.ts";
import type { Ties } from "./client.ts";
import { notHere, registrySilent } from "./errors.ts";
import type { FleetExecution } from "./execution.ts";
import { answerOf, flow } from "./response-stream.ts";

const NOTHING: LiveUsage = {
  usage: { cpuMs: 0, memoryPeakBytes: 0, ioReadBytes: 0, ioWriteBytes: 0 },
  processes: [],
};

/** What is known at once is asked for anew when somebody looks, at most this often. */
const LOOK_EVERY_MS = 200;
/** How often a log is followed again whose worker was restarted, before that is given up. */
const MOST_RESUMES = 20;

/** What was last heard of a session, for those who cannot wait. */
export interface Glimpse {
  streams: SessionInfo["streams"];
  terminal: TerminalStory | null;
  live: LiveUsage | null;
  atMs: number;
}

/** What the executor remembers of the sessions it was asked about. */
export interface Memory {
  ties(): Promise<Ties>;
  execution(id: string): FleetExecution | undefined;
  glimpses: Map<string, Glimpse>;
  /** Logs that were put by when it ended, brought here; null: there are none. */
  stored(session: Located): Promise<SessionData | null>;
}

/** What there is to read of a session on another machine: asked of the worker that has it. */
export class FleetData implements SessionData {
  readonly #session: Located;
  readonly #memory: Memory;

  constructor(session: Located, memory: Memory) {
    this.#session = session;
    this.#memory = memory;
  }

  streams(): SessionInfo["streams"] {
    return this.#glimpse()?.streams ?? {};
  }

  terminal(): TerminalStory | null {
    if (this.#session.capture !== "merged") return null;
    return this.#memory.execution(this.#session.id)?.terminal ?? this.#glimpse()?.terminal ?? null;
  }

  size(): undefined {
    return undefined;
  }

  result(name: string, session: Omit<NewSession, "name">, ending: Parting): RunResult | Promise<RunResult> {
    const told = typeof ending === "string" ? undefined : ending.account?.result;
    if (told) return this.#asOurs(told, name);
    return this.#resultNow(name, session, ending);
  }

  /** Its id and name are ours; the worker has others for it. */
  #asOurs(result: RunResult, name: string): RunResult {
    return { ...result, id: this.#session.id, name, verdict: null, approvalId: null };
  }

  async #resultNow(name: string, session: Omit<NewSession, "name">, ending: Parting): Promise<RunResult> {
    const account = typeof ending === "string" ? undefined : ending.account;
    const record = typeof ending === "string" ? null : ending;
    // What never came to run has nothing to read.
    const ran = ending === "detached" || (record !== null && record.pid > 0);
    const result = ran ? ((await this.#ask("result", {}).catch(() => null)) as RunResult | null) : null;
    const base = result ?? emptyResult(session);
    const status = ending === "detached" ? "running" : ending === "lost" ? "lost" : (account?.status ?? base.status);
    return {
      ...this.#asOurs(base, name),
      status,
      ...(account
        ? { warnings: account.warnings, hints: account.hints, error: account.error as RunResult["error"] }
        : {}),
    };
  }

  async tail(maxBytes: number): Promise<string> {
    return String(await this.#ask("tail", { maxBytes }));
  }

  /** Told with its end. */
  complaint(): string {
    return "";
  }

  forCallback(): { logPath: string | null; lastLines: string[] } {
    return { logPath: null, lastLines: [] };
  }

  async logs(query: LogQuery, live: boolean): Promise<LogSlice> {
    const stored = await this.#stored();
    if (stored) return stored.logs(query, live);
    const slice = (await this.#ask("logs", query)) as LogSlice & { chunks: (LogChunk & { bytes: string })[] };
    const chunks = slice.chunks.map((chunk) => ({ ...chunk, bytes: Buffer.from(chunk.bytes as never, "base64") }));
    return { ...slice, chunks };
  }

  async *read(query: LogQuery, live: boolean): AsyncGenerator<LogChunk, void, undefined> {
    const stored = await this.#stored();
    if (stored) yield* stored.read(query, live);
    else yield* this.#chunks("read", query);
  }

  /** Goes on where it was when the worker is back after a restart: nothing twice, nothing left out. */
  async *follow(
    query: Omit<FollowQuery, "signal">,
    execution: Execution | null,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<LogChunk, void, undefined> {
    const stored = execution ? null : await this.#stored();
    if (stored) return yield* stored.follow(query, null, signal);
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
        const again = error instanceof SallyportError && error.type === "HostSilent" && resumes < MOST_RESUMES;
        if (signal?.aborted) return;
        if (!again || (Object.keys(after).length === 0 && !(await this.#isThere()))) throw error;
      }
    }
  }

  async waitFor(_execution: Execution | null, conditions: WaitConditions): Promise<Omit<WaitOutcome, "info">> {
    const { signal, pattern, ...rest } = conditions;
    const args = { ...rest, ...(pattern ? { pattern: { source: pattern.source, flags: pattern.flags } } : {}) };
    const found = await this.#ask("waitFor", args, signal);
    return found as Omit<WaitOutcome, "info">;
  }

  async screen(session: { id: string; name: string }, options: object): Promise<Screen> {
    const stored = await this.#stored();
    return stored ? stored.screen(session, options) : ((await this.#ask("screen", options)) as Screen);
  }

  async repaint(session: { id: string; name: string }): Promise<Repaint> {
    const stored = await this.#stored();
    if (stored) return stored.repaint(session);
    const { output, ...rest } = (await this.#ask("repaint", {})) as Omit<Repaint, "output"> & { output: string };
    return { ...rest, output: Buffer.from(output, "base64") };
  }

  async *recording(session: {
    id: string;
    name: string;
    command: string;
    startedAt: string;
  }): AsyncGenerator<string, void, undefined> {
    const stored = await this.#stored();
    if (stored) return yield* stored.recording(session);
    const { ties, host } = await this.#worker();
    for await (const frame of flow(ties, host, "recording", { ...this.#asked(), args: {} })) {
      if (frame.kind === "value") yield String(frame.value);
    }
  }

  usage(): LiveUsage {
    return this.#glimpse()?.live ?? NOTHING;
  }

  #asked(): { id: string; agent: string } {
    return { id: this.#session.id, agent: this.#session.agent };
  }

  async #ask(operation: string, args: unknown, signal?: AbortSignal): Promise<unknown> {
    const { ties, host } = await this.#worker();
    return answerOf(ties, host, operation, { ...this.#asked(), args }, signal);
  }

  async *#chunks(operation: string, args: unknown, signal?: AbortSignal): AsyncGenerator<LogChunk, void, undefined> {
    const { ties, host } = await this.#worker();
    for await (const frame of flow(ties, host, operation, { ...this.#asked(), args }, signal)) {
      if (frame.kind === "chunk") yield { ...(frame.head as Omit<LogChunk, "bytes">), bytes: frame.bytes };
    }
  }

  async #worker(): Promise<{ ties: Ties; host: string }> {
    const ties = await this.#memory.ties();
    const { id, agent } = this.#session;
    const known = this.#memory.execution(id)?.host ?? this.#session.host ?? null;
    const host = known ?? (await ties.book.read(agent, id).catch(unheard))?.entry.host ?? null;
    if (host === null) throw new SallyportError("SessionNotFound", ...notHere(id, "the fleet"));
    return { ties, host };
  }

  async #isThere(): Promise<boolean> {
    const { ties, host } = await this.#worker();
    return (await ties.hosts.look(host).catch(() => null)) !== null;
  }

  /**
   * Only of a host that is gone are the logs looked for where they were put by. Where they are not, it is asked all the
   * same: a heartbeat that is late is not the last word of a host, and neither is a registry that gives no answer.
   */
  async #stored(): Promise<SessionData | null> {
    const { ties, host } = await this.#worker();
    if (this.#memory.execution(this.#session.id) || (await ties.hosts.look(host).catch(() => "unknown"))) return null;
    return this.#memory.stored(this.#session).catch(unheard);
  }

  /** What was last heard; whoever looks has it asked for anew. */
  #glimpse(): Glimpse | undefined {
    const { glimpses } = this.#memory;
    const { id } = this.#session;
    const before = glimpses.get(id);
    const wanted = before ? performance.now() > before.atMs + LOOK_EVERY_MS : this.#memory.execution(id) !== undefined;
    if (wanted) {
      // Noted at once: many may look before the answer is there.
      glimpses.set(id, { streams: {}, terminal: null, live: null, ...before, atMs: performance.now() });
      void this.look().catch(() => {});
    }
    return before;
  }

  /** Has its worker tell what those want to know who cannot wait. */
  async look(): Promise<void> {
    const { glimpses } = this.#memory;
    const seen = (await this.#ask("glimpse", {})) as Omit<Glimpse, "atMs">;
    glimpses.delete(this.#session.id);
    glimpses.set(this.#session.id, { ...seen, atMs: performance.now() });
    for (const oldest of glimpses.keys()) {
      if (glimpses.size <= MOST_GLIMPSES) break;
      glimpses.delete(oldest);
    }
  }
}

const MOST_GLIMPSES = 10_000;

/** Promise 8: what the servers' own words do not tell is what to do. */
function unheard(error: Error): never {
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
