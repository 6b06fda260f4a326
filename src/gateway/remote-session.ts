import { SallyportError } from "../core/error.ts";
import type { SessionInfo } from "../core/session.ts";
import type { Execution, Executor, Located } from "../executor/executor.ts";
import type { PeerSessions } from "../executor/peer-sessions.ts";
import { anotherGateways } from "../fleet/errors.ts";
import type { Records } from "../session/records.ts";

/** One session of another gateway: what its worker last told of it. Nothing of it is written down here. */
export class VisitedRecords implements Records {
  readonly executor: Executor;
  readonly #visit: ReturnType<PeerSessions["visit"]>;
  #session: SessionInfo;

  constructor(executor: Executor, peers: PeerSessions, session: SessionInfo) {
    this.executor = executor;
    this.#session = session;
    this.#visit = peers.visit(session, (now) => {
      this.#session = now;
    });
  }

  info(): SessionInfo {
    return this.#session;
  }

  located(): Located {
    return this.#session;
  }

  usage(): NonNullable<ReturnType<Records["usage"]>> {
    if (this.#lives()) return this.executor.data(this.#session).usage(this.#visit.keeperPid);
    return { usage: this.#session.resourceUsage, processes: [] };
  }

  async refresh(): Promise<void> {
    await this.#visit.refresh();
  }

  held(): Execution | null {
    return this.#lives() ? this.#visit : null;
  }

  parted(): null {
    return null;
  }

  async execution(): Promise<Execution | null> {
    return this.held();
  }

  /** Whether somebody waits for it is its own gateway's to say. */
  toBackground(): boolean {
    return false;
  }

  movedDeadline(_id: string, timeoutMs: number): void {
    const { startedAt } = this.#session;
    const fromStart = timeoutMs === 0 ? 0 : Date.now() - Date.parse(startedAt) + timeoutMs;
    this.#session = { ...this.#session, timeoutMs: fromStart };
  }

  async remove(): Promise<void> {
    this.insistOnOwn();
  }

  insistOnOwn(): never {
    const { name, gateway, host } = this.#session;
    throw new SallyportError("OtherGateway", ...anotherGateways(name, gateway ?? "", host ?? ""));
  }

  #lives(): boolean {
    const { status, lingering } = this.#session;
    return status === "running" || lingering;
  }
}
