import { setTimeout as sleep } from "node:timers/promises";
import { SallyportError } from "../core/error.ts";
import { STATUSES, type Status } from "../core/result.ts";
import type { SessionInfo } from "../core/session.ts";
import type { TerminalSize } from "../core/terminal.ts";
import type { Execution, InputState, KillRequest, Parting } from "../executor/executor.ts";
import { silent, type Ties } from "./client.ts";
import { answerOf } from "./response-stream.ts";
import type { Entry } from "./wire.ts";

/** What is done to a command on another machine, asked of the worker that has it. */
export abstract class Steering {
  wroteHidden = false;

  /** Undefined: it has ended, or nobody has it yet. */
  protected abstract ask(operation: string, args?: unknown): Promise<unknown>;

  async write(data: Uint8Array): Promise<number | null> {
    const answer = (await this.ask("write", Buffer.from(data).toString("base64"))) as
      | { taken: number | null; hidden: boolean }
      | undefined;
    this.wroteHidden = answer?.hidden ?? false;
    return answer?.taken ?? null;
  }

  async closeStdin(): Promise<void> {
    await this.ask("closeStdin");
  }

  async resize(size: TerminalSize): Promise<boolean> {
    return (await this.ask("resize", size)) === true;
  }

  async inputState(): Promise<InputState | null> {
    const state = (await this.ask("inputState")) as (Omit<InputState, "typed"> & { typed: string }) | null | undefined;
    return state ? { ...state, typed: Buffer.from(state.typed, "base64") } : null;
  }

  async setDeadline(timeoutMs: number): Promise<boolean> {
    return (await this.ask("extend", timeoutMs)) === true;
  }

  /** The line to the servers keeps a process alive by itself. */
  hold(): () => void {
    return () => {};
  }
}

/** So long one wait at the worker lasts; then it is asked how the session is, and waited for again. */
const WAIT_MS = 60_000;
/** Leftovers of an ended command are looked at this often. */
const LOOK_EVERY_MS = 250;
/** Whoever answers for a host that is gone has said so after this long, if anybody does. */
const GIVEN_UP_WITHIN_MS = 15_000;

/**
 * A hold on another gateway's session. What is asked goes to the worker that has it, as from its own gateway. Nothing is
 * written down of it here and nothing is told of its end: that is for the gateway that asked for it (each callback
 * exactly once), and so is giving it up when its host is gone.
 */
export class Visit extends Steering implements Execution {
  readonly id: string;
  readonly keeperPid = process.pid;
  readonly started: Promise<number | null>;
  readonly gaps: readonly string[] = [];
  host: string;
  #now: SessionInfo;
  #holders = 0;
  #unheld = new AbortController();
  readonly #ties: () => Promise<Ties>;
  readonly #look: (host: string) => Promise<SessionInfo | null>;
  readonly #told: (now: SessionInfo) => void;
  readonly #closing: AbortSignal;

  /** `look`: how it is by now, as this host's worker says; null: no answer. `closing`: nobody waits after that. */
  constructor(
    session: SessionInfo,
    ties: () => Promise<Ties>,
    look: (host: string) => Promise<SessionInfo | null>,
    told: (now: SessionInfo) => void,
    closing: AbortSignal,
  ) {
    super();
    this.id = session.id;
    this.host = session.host ?? "";
    this.started = Promise.resolve(session.pid);
    this.#now = session;
    this.#ties = ties;
    this.#look = look;
    this.#told = told;
    this.#closing = closing;
  }

  /** Asked for when somebody waits: its end is not followed otherwise. How it ended is told, not given here. */
  get exited(): Promise<Parting> {
    return this.#until(({ status }) => status !== "running");
  }

  get ended(): Promise<Parting> {
    return this.#until(({ status, lingering }) => status !== "running" && !lingering);
  }

  /** What grows is read from its worker, which waits for it there. */
  onGrew(): () => void {
    return () => {};
  }

  /** What is typed here is judged by this, so nothing is guessed where it is not known. */
  async onTerminal(): Promise<boolean> {
    const { pty, capture } = this.#now;
    return pty !== null || (capture === "merged" && (await this.inputState()) !== null);
  }

  async kill(order: KillRequest): Promise<boolean> {
    return (await this.ask("kill", order)) === true;
  }

  async toBackground(): Promise<void> {
    await this.ask("background");
  }

  /** Its end is waited for as long as somebody holds on to it. */
  override hold(): () => void {
    this.#holders++;
    return () => {
      this.#holders--;
      if (this.#holders > 0) return;
      this.#unheld.abort();
      this.#unheld = new AbortController();
    };
  }

  release(): void {
    this.#unheld.abort();
  }

  protected async ask(operation: string, args?: unknown): Promise<unknown> {
    const { id, host } = this;
    return (await this.#ties()).ask(host, operation, { id, agent: this.#now.agent, args });
  }

  /** Also when nobody waits any more. */
  async #until(isOver: (now: SessionInfo) => boolean): Promise<Parting> {
    const signal = AbortSignal.any([this.#unheld.signal, this.#closing]);
    for (let silentSince = performance.now(); ; ) {
      if (this.#closing.aborted) return "detached";
      const now = await this.refresh();
      if (signal.aborted || (now && isOver(now))) return "detached";
      if (now) silentSince = performance.now();
      if (performance.now() - silentSince > GIVEN_UP_WITHIN_MS) throw silent(this.host);
      if (now?.status === "running") await this.#waitThere(signal);
      else await sleep(LOOK_EVERY_MS);
    }
  }

  async #waitThere(signal: AbortSignal): Promise<void> {
    const asked = { id: this.id, agent: this.#now.agent, args: { timeoutMs: WAIT_MS } };
    try {
      await answerOf(await this.#ties(), this.host, "waitFor", asked, signal);
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof SallyportError) || error.type !== "HostSilent") throw error;
      // It is asked how it is, and that tells more.
      await sleep(LOOK_EVERY_MS);
    }
  }

  /** Null: nobody can say how it is, now. */
  async refresh(): Promise<SessionInfo | null> {
    const now = (await this.#look(this.host)) ?? (await this.#fromRegistry());
    if (!now) return null;
    this.#now = now;
    this.#told(now);
    return now;
  }

  /** What became of it, of a host that says nothing. Null: that is not known, or not yet. */
  async #fromRegistry(): Promise<SessionInfo | null> {
    const { book } = await this.#ties();
    const entry = (await book.read(this.#now.agent, this.id).catch(() => null))?.entry;
    if (!entry || entry.state === "open") return null;
    if (entry.state !== "claimed") return endOf(this.#now, entry);
    if (entry.host !== null) this.host = entry.host;
    return null;
  }
}

function endOf(now: SessionInfo, { state, account, record, atMs }: Entry): SessionInfo {
  const told = STATUSES.find((each) => each === account?.status);
  const status: Status = state === "ended" ? (told ?? "failed") : state === "lost" ? "lost" : "killed";
  const exitCode = typeof record === "object" ? record.code : null;
  return { ...now, status, exitCode, lingering: false, endedAt: new Date(atMs).toISOString() };
}
