import { setTimeout as sleep } from "node:timers/promises";
import { SallyportError } from "../core/error.ts";
import { STATUSES, type Status } from "../core/result.ts";
import type { SessionInfo } from "../core/session.ts";
import type { TerminalSize } from "../core/terminal.ts";
import type { Execution, ExecutionOutcome, InputState, KillRequest } from "../executor/execution.ts";
import { type FleetClient, hostSilentError } from "./client.ts";
import { requestValue } from "./response-stream.ts";
import type { RegistryEntry } from "./wire.ts";

/** Forwards operations on a command to the worker that runs it. */
export abstract class RemoteControl {
  wroteHidden = false;

  /** Sends a request to the worker. Resolves to undefined when the command has ended or no worker has claimed it. */
  protected abstract request(operation: string, args?: unknown): Promise<unknown>;

  async write(data: Uint8Array): Promise<number | null> {
    const answer = (await this.request("write", Buffer.from(data).toString("base64"))) as
      | { taken: number | null; hidden: boolean }
      | undefined;
    this.wroteHidden = answer?.hidden ?? false;
    return answer?.taken ?? null;
  }

  async closeStdin(): Promise<void> {
    await this.request("closeStdin");
  }

  async resize(size: TerminalSize): Promise<boolean> {
    return (await this.request("resize", size)) === true;
  }

  async inputState(): Promise<InputState | null> {
    const state = (await this.request("inputState")) as
      | (Omit<InputState, "typed"> & { typed: string })
      | null
      | undefined;
    return state ? { ...state, typed: Buffer.from(state.typed, "base64") } : null;
  }

  async setDeadline(timeoutMs: number): Promise<boolean> {
    return (await this.request("extend", timeoutMs)) === true;
  }

  /** Does nothing: the connection to the servers keeps the process alive. */
  hold(): () => void {
    return () => {};
  }
}

/** Duration of one wait request. After it the state is checked and the wait is repeated. */
const WAIT_MS = 60_000;
/** Poll interval while leftover processes of an ended command run. */
const POLL_MS = 250;
/** Time within which the owning gateway marks the session of an unresponsive host as lost. */
const HOST_LOST_WITHIN_MS = 15_000;

/**
 * A session that another gateway started. Requests are sent to the worker that runs it. This gateway neither records
 * its end nor sends a callback: the gateway that started it does both exactly once, and marks it as lost if its host is
 * lost.
 */
export class RemoteExecution extends RemoteControl implements Execution {
  readonly id: string;
  readonly keeperPid = process.pid;
  readonly started: Promise<number | null>;
  readonly unsupported: readonly string[] = [];
  host: string;
  #info: SessionInfo;
  #holders = 0;
  #released = new AbortController();
  readonly #client: () => Promise<FleetClient>;
  readonly #fetchInfo: (host: string) => Promise<SessionInfo | null>;
  readonly #onUpdate: (now: SessionInfo) => void;
  readonly #closing: AbortSignal;

  /**
   * Creates an execution for a session. `fetchInfo` queries the worker and resolves to null without a response.
   * Aborting `closing` ends all waits.
   */
  constructor(
    session: SessionInfo,
    client: () => Promise<FleetClient>,
    fetchInfo: (host: string) => Promise<SessionInfo | null>,
    onUpdate: (now: SessionInfo) => void,
    closing: AbortSignal,
  ) {
    super();
    this.id = session.id;
    this.host = session.host ?? "";
    this.started = Promise.resolve(session.pid);
    this.#info = session;
    this.#client = client;
    this.#fetchInfo = fetchInfo;
    this.#onUpdate = onUpdate;
    this.#closing = closing;
  }

  /** Starts waiting when it is read. The outcome is passed to `onUpdate`, not to the promise. */
  get exited(): Promise<ExecutionOutcome> {
    return this.#waitUntil(({ status }) => status !== "running");
  }

  get ended(): Promise<ExecutionOutcome> {
    return this.#waitUntil(({ status, lingering }) => status !== "running" && !lingering);
  }

  /** Does nothing: output is streamed from the worker. */
  onGrew(): () => void {
    return () => {};
  }

  /**
   * Reports whether the session has a terminal. Policy for input depends on it, so the worker is queried if necessary.
   */
  async onTerminal(): Promise<boolean> {
    const { pty, capture } = this.#info;
    return pty !== null || (capture === "merged" && (await this.inputState()) !== null);
  }

  async kill(killRequest: KillRequest): Promise<boolean> {
    return (await this.request("kill", killRequest)) === true;
  }

  async toBackground(): Promise<void> {
    await this.request("background");
  }

  /** Registers a holder. Waits for the end are cancelled when the last holder is released. */
  override hold(): () => void {
    this.#holders++;
    return () => {
      this.#holders--;
      if (this.#holders > 0) return;
      this.#released.abort();
      this.#released = new AbortController();
    };
  }

  release(): void {
    this.#released.abort();
  }

  protected async request(operation: string, args?: unknown): Promise<unknown> {
    const { id, host } = this;
    return (await this.#client()).request(host, operation, { id, agent: this.#info.agent, args });
  }

  /** Waits until `isDone` returns true or the last holder is released. */
  async #waitUntil(isDone: (now: SessionInfo) => boolean): Promise<ExecutionOutcome> {
    const signal = AbortSignal.any([this.#released.signal, this.#closing]);
    for (let lastSeenMs = performance.now(); ; ) {
      if (this.#closing.aborted) return "detached";
      const now = await this.refresh();
      if (signal.aborted || (now && isDone(now))) return "detached";
      if (now) lastSeenMs = performance.now();
      if (performance.now() - lastSeenMs > HOST_LOST_WITHIN_MS) throw hostSilentError(this.host);
      if (now?.status === "running") await this.#waitOnWorker(signal);
      else await sleep(POLL_MS);
    }
  }

  async #waitOnWorker(signal: AbortSignal): Promise<void> {
    const request = { id: this.id, agent: this.#info.agent, args: { timeoutMs: WAIT_MS } };
    try {
      await requestValue(await this.#client(), this.host, "waitFor", request, signal);
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof SallyportError) || error.type !== "HostSilent") throw error;
      // The next refresh determines whether the host is lost.
      await sleep(POLL_MS);
    }
  }

  /** Reads the current state of the session. Resolves to null when it is not known at the moment. */
  async refresh(): Promise<SessionInfo | null> {
    const now = (await this.#fetchInfo(this.host)) ?? (await this.#fromRegistry());
    if (!now) return null;
    this.#info = now;
    this.#onUpdate(now);
    return now;
  }

  /** Reads the end of the session from the registry, for a host that does not respond. Null when there is none yet. */
  async #fromRegistry(): Promise<SessionInfo | null> {
    const { registry } = await this.#client();
    const entry = (await registry.read(this.#info.agent, this.id).catch(() => null))?.entry;
    if (!entry || entry.state === "open") return null;
    if (entry.state !== "claimed") return endOf(this.#info, entry);
    if (entry.host !== null) this.host = entry.host;
    return null;
  }
}

function endOf(now: SessionInfo, { state, account, record, atMs }: RegistryEntry): SessionInfo {
  const reported = STATUSES.find((each) => each === account?.status);
  const status: Status = state === "ended" ? (reported ?? "failed") : state === "lost" ? "lost" : "killed";
  const exitCode = typeof record === "object" ? record.code : null;
  return { ...now, status, exitCode, lingering: false, endedAt: new Date(atMs).toISOString() };
}
