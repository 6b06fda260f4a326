import { setImmediate } from "node:timers/promises";
import * as z from "zod";
import type { SessionInfo } from "../../core/session.ts";
import type { Gateway } from "../../gateway/gateway.ts";
import { type Operation, operation, READERS_AND_AGENT } from "../operation.ts";
import { eventText } from "./event-stream.ts";

const EVERY_MS = 2000;
/** Maximum number of sessions measured, newest first. Measuring a session reads /proc for each of its processes. */
const MAX_MEASURED = 500;
/** Sessions measured before yielding to other work. Measuring a small one takes about 0.2 ms. */
const BATCH_SIZE = 20;

const StatsSchema = z
  .object({
    atMs: z.number().describe("Time of the measurement, in milliseconds since the epoch"),
    running: z.int().describe("Number of sessions with running processes"),
    pending: z.int().describe("Number of pending approval requests"),
    sessions: z
      .array(
        z.object({
          id: z.string().describe("Session ID"),
          cpuPercent: z
            .number()
            .describe("CPU usage in percent of one core, since the last measurement or the start of the session"),
          memoryBytes: z.int().describe("Resident memory in bytes"),
          processes: z.int().describe("Number of processes"),
          ioReadBytes: z.int().describe("Bytes read by system calls, from files, pipes and sockets"),
          ioWriteBytes: z.int().describe("Bytes written by system calls, to files, pipes and sockets"),
        }),
      )
      .describe("Running sessions"),
  })
  .meta({ id: "Stats" });

type StatsNow = z.infer<typeof StatsSchema>;
type SessionUsage = StatsNow["sessions"][number];
type Measured = SessionUsage & { agent: string };

/** Measures running sessions while there are listeners, once for all of them. */
export class Stats {
  readonly #gateway: Gateway;
  readonly #onfailure: (error: Error) => void;
  readonly #listeners = new Map<(text: string) => void, string | null>();
  #before = new Map<string, { atMs: number; cpuMs: number }>();
  #timer: NodeJS.Timeout | null = null;

  constructor(gateway: Gateway, onfailure: (error: Error) => void) {
    this.#gateway = gateway;
    this.#onfailure = onfailure;
  }

  /**
   * Adds a listener for the sessions of an agent, or all sessions if `agent` is null. Returns a function to remove it.
   */
  listen(agent: string | null, tell: (text: string) => void): () => void {
    this.#listeners.set(tell, agent);
    this.#timer ??= setTimeout(() => void this.#round(), 0);
    return () => {
      this.#listeners.delete(tell);
      if (this.#listeners.size === 0) this.close();
    };
  }

  close(): void {
    this.#listeners.clear();
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
  }

  async #round(): Promise<void> {
    const timer = this.#timer;
    try {
      const measured = await this.#measure();
      const texts = new Map<string | null, string>();
      for (const [tell, agent] of [...this.#listeners]) {
        if (!texts.has(agent)) texts.set(agent, eventText("stats", this.#view(measured, agent)));
        tell(texts.get(agent) ?? "");
      }
    } catch (error) {
      if (this.#listeners.size > 0) this.#onfailure(error as Error);
    }
    // The timer has changed if the last listener left, or a new one has started another round.
    if (this.#timer === timer && timer) this.#timer = setTimeout(() => void this.#round(), EVERY_MS);
  }

  /** Measures once, without listening. */
  async now(agent: string | null): Promise<StatsNow> {
    return this.#view(await this.#measure(), agent);
  }

  #view(measured: Measured[], agent: string | null): StatsNow {
    const own = measured.filter((each) => agent === null || each.agent === agent);
    const whose = agent === null ? {} : { agent };
    return {
      atMs: Date.now(),
      running: this.#gateway.count({ live: true, ...whose }),
      // Listing also expires overdue requests, which creates an event for each.
      pending: this.#gateway.approvals.list({ status: "pending", limit: 1000, ...whose }).length,
      sessions: own.map(({ agent: _, ...usage }) => usage),
    };
  }

  async #measure(): Promise<Measured[]> {
    const live = this.#gateway.list({ live: true, limit: MAX_MEASURED });
    const measured: Measured[] = [];
    const seen = new Map<string, { atMs: number; cpuMs: number }>();
    for (const [index, info] of live.entries()) {
      if (index % BATCH_SIZE === BATCH_SIZE - 1) await setImmediate();
      const usage = this.#measureOne(info, seen);
      if (usage) measured.push(usage);
    }
    this.#before = seen;
    return measured;
  }

  #measureOne(
    { id, agent, startedAt }: SessionInfo,
    seen: Map<string, { atMs: number; cpuMs: number }>,
  ): Measured | null {
    const found = this.#usageOf(id);
    if (!found) return null;
    const { usage, processes } = found;
    const [atMs, cpuMs] = [performance.now(), usage?.cpuMs ?? 0];
    seen.set(id, { atMs, cpuMs });
    const before = this.#before.get(id) ?? { atMs: atMs - Math.max(10, Date.now() - Date.parse(startedAt)), cpuMs: 0 };
    const share = (100 * (cpuMs - before.cpuMs)) / Math.max(10, atMs - before.atMs);
    return {
      id,
      agent,
      // The kernel counts in ticks of 10 ms, so the difference can be slightly negative.
      cpuPercent: Math.max(0, Math.round(share * 10) / 10),
      memoryBytes: processes.reduce((sum, each) => sum + each.memoryBytes, 0),
      processes: processes.length,
      ioReadBytes: usage?.ioReadBytes ?? 0,
      ioWriteBytes: usage?.ioWriteBytes ?? 0,
    };
  }

  /** Returns the usage of a session, or null if it was removed. */
  #usageOf(id: string) {
    try {
      return this.#gateway.session(id).usage();
    } catch {
      return null;
    }
  }
}

export function statsOperation(stats: Stats): Operation {
  return operation({
    method: "GET",
    path: "/v1/stats",
    id: "stats",
    summary: "Get the resource usage of running sessions",
    roles: READERS_AND_AGENT,
    response: StatsSchema,
    handle: ({ caller }) => stats.now(caller.agent),
  });
}
