import type { ProcessInfo } from "../core/gateway.ts";
import type { ResourceUsage } from "../core/result.ts";
import type { SessionInfo } from "../core/session.ts";
import type { Execution, Executor, Located } from "../executor/executor.ts";

/** What a session is looked up in: this state folder's own records, or what a worker tells of another gateway's. */
export interface Records {
  readonly executor: Pick<Executor, "data">;
  /** Null: it has been removed. */
  info(id: string): SessionInfo | null;
  /** Null: it has been removed. */
  located(id: string): Located | null;
  /** Null: it has been removed. */
  usage(id: string): { usage: ResourceUsage | null; processes: ProcessInfo[] } | null;
  /** Where what is known here is only what was last heard. */
  refresh?(): Promise<void>;
  /** The execution this gateway has at hand. */
  held(id: string): Execution | null;
  /** The execution through which this gateway typed into one that has ended since. */
  parted(id: string): Execution | null;
  /** Found again if need be; null when it has ended. */
  execution(id: string): Promise<Execution | null>;
  /** False: too late. */
  toBackground(execution: Execution): boolean;
  /** From now; 0: there is none any more. */
  movedDeadline(id: string, timeoutMs: number): void;
  /** Throws where what is kept of it is another's to remove. */
  insistOnOwn?(): void;
  remove(id: string): Promise<void>;
}
