import { relative } from "node:path";
import type { LaunchSpec, Origin } from "../core/launch.ts";
import type { RunRequest } from "../core/request.ts";
import type { FleetGatewayOptions } from "../core/settings.ts";
import type { SessionData } from "../executor/data.ts";
import type { Abilities, Ending, Execution, Executor, Located, Slot, Whereabouts } from "../executor/executor.ts";
import { isOverdue } from "../executor/unstarted-record.ts";
import { stateApproval } from "./attestation.ts";
import { Ties } from "./client.ts";
import { FleetData, type Glimpse } from "./data.ts";
import { FleetExecution } from "./execution.ts";
import { type SigningKey, signingKey } from "./keys.ts";
import { StoredLogs } from "./log-archive.ts";
import { FleetOthers } from "./peer-sessions.ts";
import { workspaceName } from "./placement.ts";
import { OwnWork } from "./resend-store.ts";
import { checkedName } from "./subjects.ts";
import { approvedPart, type JobMessage, WIRE_VERSION } from "./wire.ts";

const CLAIM_WITHIN_MS = 600_000;
const LOOK_EVERY_MS = 2000;
/** A command line shows what it can find out of so many; the rest as it was last known. */
const MOST_LEARNT = 500;
const LEARN_MS = 3000;

/** Runs commands on the machines of a fleet. */
export class FleetExecutor implements Executor {
  readonly abilities: Abilities = {
    kind: "fleet",
    confines: true,
    survives: true,
    exactTrees: true,
    limits: true,
    pty: true,
    elsewhere: true,
  };
  readonly #options: FleetGatewayOptions;
  readonly #state: string;
  readonly #executions = new Map<string, FleetExecution>();
  readonly #endings = new Map<string, Ending>();
  readonly #glimpses = new Map<string, Glimpse>();
  readonly #storedLogs: StoredLogs;
  readonly #own: OwnWork;
  readonly peerSessions: FleetOthers;
  #ties: Promise<Ties> | null = null;
  #key: SigningKey | null = null;
  #timer: NodeJS.Timeout | null = null;
  #closed = false;

  constructor(state: string, options: FleetGatewayOptions) {
    this.#state = state;
    this.#options = options;
    this.#storedLogs = new StoredLogs(state);
    this.#own = new OwnWork(state);
    const glance = (session: Located) => new FleetData(session, this.#memory).look();
    this.peerSessions = new FleetOthers(
      () => this.#connected(),
      () => this.#home,
      glance,
    );
  }

  async prepare(): Promise<Slot> {
    const ties = await this.#connected();
    return {
      keeperPid: process.pid,
      launch: (spec) => {
        const work = this.#work(ties, spec);
        this.#own.keep(work);
        const execution = this.#follow(new FleetExecution(ties, this.#own, work, work, this.#patience));
        void execution.send();
        return execution;
      },
      cancel: () => {},
    };
  }

  async attach(session: Whereabouts): Promise<Execution | null> {
    const ties = await this.#connected();
    const seen = await ties.book.read(session.agent, session.id);
    if (!seen) return this.#unclaimed(ties, session);
    const execution = this.#follow(new FleetExecution(ties, this.#own, asKnown(session), null, this.#patience));
    await execution.consider(seen).catch(() => {}); // its host gives no answer now; it is watched
    return execution;
  }

  /** In a queue still, or its gateway died before it got there: after its time it is given up for certain. */
  async #unclaimed(ties: Ties, session: Whereabouts): Promise<Execution | null> {
    if (!isOverdue(session.created_ms, this.#patience)) return null;
    const execution = this.#follow(new FleetExecution(ties, this.#own, asKnown(session), null, 0));
    await execution.look();
    return execution;
  }

  async learn(live: () => Whereabouts[]): Promise<void> {
    const rows = live().slice(0, MOST_LEARNT);
    if (rows.length === 0) return;
    const ties = await this.#connected();
    await Promise.all(rows.map((row) => this.#learnOf(ties, row).catch(() => {})));
  }

  async #learnOf(ties: Ties, session: Whereabouts): Promise<void> {
    const { id, agent } = session;
    const seen = await ties.book.read(agent, id);
    if (seen?.entry.state === "claimed") {
      await new FleetData({ id, agent, capture: "merged", host: seen.entry.host }, this.#memory).look();
    } else if (seen && seen.entry.state !== "open") {
      const execution = new FleetExecution(ties, this.#own, asKnown(session), null, this.#patience);
      // Its end counts once the stream of exits has it. Who only looks does not wait for that for ever.
      const enough = setTimeout(() => execution.release(), LEARN_MS);
      await execution.consider(seen);
      const ending = await execution.exited;
      clearTimeout(enough);
      if (ending !== "detached") this.#endings.set(id, ending);
    }
  }

  /** Kept for as long as the session is: a full disk may keep its row from being marked, and it is asked for again. */
  fate({ id }: Whereabouts): Ending | null {
    return this.#endings.get(id) ?? null;
  }

  data(session: Located): SessionData {
    return new FleetData(session, this.#memory);
  }

  remove(id: string): void {
    this.#endings.delete(id);
    this.#glimpses.delete(id);
    this.#storedLogs.remove(id);
    this.#own.drop(id);
  }

  /** Of its end the registry tells. */
  makeRoom(id: string): void {
    this.#storedLogs.remove(id);
  }

  removeStrays(): void {}

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#timer) clearInterval(this.#timer);
    for (const execution of this.#executions.values()) execution.release();
    this.#executions.clear();
    this.peerSessions.close();
    const ties = await this.#ties?.catch(() => null);
    await ties?.close();
  }

  get #patience(): number {
    return this.#options.claimWithinMs ?? CLAIM_WITHIN_MS;
  }

  get #memory() {
    return {
      ties: () => this.#connected(),
      execution: (id: string) => this.#executions.get(id),
      glimpses: this.#glimpses,
      stored: async (session: Located) => this.#storedLogs.fetch((await this.#connected()).link, session),
    };
  }

  /** Connected when first needed: a gateway that is only asked about its rows needs no fleet. */
  #connected(): Promise<Ties> {
    this.#ties ??= this.#connect();
    return this.#ties;
  }

  async #connect(): Promise<Ties> {
    try {
      const ties = await Ties.open(this.#options);
      const refreshAll = () => {
        for (const execution of this.#executions.values()) void execution.refresh();
      };
      ties.listen((news, from) => this.#executions.get(news.id)?.told(news, from), refreshAll);
      this.#timer = setInterval(() => {
        for (const execution of this.#executions.values()) void execution.look();
      }, LOOK_EVERY_MS).unref();
      return ties;
    } catch (error) {
      this.#ties = null; // whoever needs it next tries again
      throw error;
    }
  }

  #follow(execution: FleetExecution): FleetExecution {
    if (this.#closed) execution.release();
    else this.#executions.set(execution.id, execution);
    void execution.ended.then(() => {
      if (this.#executions.get(execution.id) === execution) this.#executions.delete(execution.id);
    });
    return execution;
  }

  get #signingKey(): SigningKey {
    this.#key ??= signingKey(this.#state);
    return this.#key;
  }

  /** What tells this state folder from every other: nobody has the same key. */
  get #home(): string {
    return this.#signingKey.public.slice(this.#signingKey.public.indexOf(":") + 1);
  }

  #work(ties: Ties, spec: LaunchSpec): JobMessage {
    const origin = originOf(spec);
    const { workspace, sticky = true } = this.#options;
    const work: JobMessage = {
      version: WIRE_VERSION,
      id: spec.id,
      attempt: 1,
      agent: origin.agent,
      to: ties.address,
      workspace: {
        name:
          workspace === undefined
            ? workspaceName(ties.link.name, origin.workspace)
            : checkedName("workspace", workspace),
        sticky,
      },
      background: spec.background,
      from: { home: this.#home, name: origin.name },
      request: travelling(spec, origin),
      statement: null,
      sentMs: Date.now(),
    };
    if (origin.approval) {
      work.statement = stateApproval(this.#signingKey, approvedPart(work), origin.approval);
    }
    return work;
  }
}

function asKnown({ id, agent, background }: Whereabouts): { id: string; agent: string; background: boolean } {
  return { id, agent, background: background === 1 };
}

function originOf({ origin }: LaunchSpec): Origin {
  if (!origin) throw new TypeError("a fleet needs to know what was asked for");
  return origin;
}

/** The request as a worker gets it: what was settled here, with paths that hold where its workspace is. */
function travelling(spec: LaunchSpec, { request, workspace }: Origin): RunRequest {
  const { name, logFile, cwd, pty, size, capture, ...rest } = request;
  const within = (path: string) => {
    const short = relative(workspace, path);
    return short.startsWith("..") ? path : short || ".";
  };
  return {
    ...rest,
    timeoutMs: spec.timeoutMs,
    ...(cwd === undefined ? {} : { cwd: within(spec.cwd) }),
    ...(spec.logFile === null ? {} : { logFile: within(spec.logFile) }),
    ...(spec.pty === null ? { capture: spec.capture } : { pty: true, size: spec.pty }),
  };
}
