import type { Recovery, SallyportError } from "./error.ts";
import type { Verdict } from "./policy.ts";

export const STATUSES = [
  "running",
  "completed",
  "timed_out",
  "killed",
  "failed",
  "lost",
  "pending",
  "blocked",
  "denied",
] as const;
export type Status = (typeof STATUSES)[number];

/** Consumption of the whole process tree. */
export interface ResourceUsage {
  cpuMs: number;
  memoryPeakBytes: number;
  ioReadBytes: number;
  ioWriteBytes: number;
}

/** What a foreground run resolves to, whatever became of the command. */
export interface RunResult {
  id: string;
  name: string;
  status: Status;
  exitCode: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
  /** Both streams in the order they were written. */
  output: string;
  durationMs: number;
  timedOut: boolean;
  /** Bytes of each stream that are not in `stdout` / `stderr` above. */
  truncated: { stdout: number; stderr: number };
  /** Processes the command left running, which were ended. */
  leftover: number;
  resourceUsage: ResourceUsage | null;
  verdict: Verdict | null;
  approvalId: string | null;
  /** What the kernel kept it from: `workspace-write`, `isolated, network off`, `off`. */
  sandbox: string;
  warnings: string[];
  /** What probably was the matter where the sandbox stopped it, and what to ask for. */
  hints: string[];
  error: { type: SallyportError["type"]; message: string; recovery: readonly Recovery[] } | null;
}
