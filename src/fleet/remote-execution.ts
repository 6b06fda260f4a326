import { setTimeout as sleep } from "node:timers/promises";
import { SallyportError } from "../core/error.ts";
import { STATUSES, type Status } from "../core/result.ts";
import type { SessionInfo } from "../core/session.ts";
import type { TerminalSize } from "../core/terminal.ts";
import type { Execution, ExecutionOutcome, InputState, KillRequest } from "../executor/execution.ts";
import { type FleetClient, hostSilentError } from "./client.ts";
import { requestValue } from "./response-stream.ts";
import type { RegistryEntry } from "./wire.ts";

/** The operations on a command that runs on a worker, sent to that worker. */
export abstract class RemoteControl {
  wroteHidden = false;

  /** Undefined: the command has ended, or no worker has it yet. */
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

  /** The connection to the servers keeps the process alive by itself. */
  hold(): () => void {
    return () => {};
  }
}

/** How long one wait request lasts before the state is checked and the wait is repeated. */
const WAIT_MS = 60_000;
/** Poll interval while leftover processes of an ended command run. */
const POLL_MS = 250;
/** The gateway that owns the session marks it as lost within this time. */
const HOST_LOST_WITHIN_MS = 15_000;

/**
 * A session that another gateway started. Requests go to the worker that runs it. Nothing is recorded here and no callback
 * is sent: the gateway that started it does that (exactly once), and marks it as lost when its host is gone.
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

  /** `fetchInfo` asks the worker on a host (null: no response). `closing` ends all waits. */
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

  /** Waits only when read. The outcome is passed to `onUpdate`, not to the promise. */
  get exited(): Promise<ExecutionOutcome> {
    return this.#waitUntil(({ status }) => status !== "running");
  }

  get ended(): Promise<ExecutionOutcome> {
    return this.#waitUntil(({ status, lingering }) => status !== "running" && !lingering);
  }

  /** Output is streamed from the worker, so growth is not watched here. */
  onGrew(): () => void {
    return () => {};
  }

  /** Policy for typed input depends on this, so the worker is asked where it is not known. */
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

  /** Waits for the end last as long as there is a holder. */
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

  /** Also returns when the last holder has let go. */
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
      // The next refresh tells whether the host is gone.
      await sleep(POLL_MS);
    }
  }

  /** Null: the state is not known at the moment. */
  async refresh(): Promise<SessionInfo | null> {
    const now = (await this.#fetchInfo(this.host)) ?? (await this.#fromRegistry());
    if (!now) return null;
    this.#info = now;
    this.#onUpdate(now);
    return now;
  }

  /** The end in the registry, for a host that does not respond. Null: there is none yet. */
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
