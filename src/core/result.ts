import type { Recovery, SallyportError } from "./error.ts";
import type { Verdict } from "./policy.ts";

/** All session states. */
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
/**
 * The state of a session.
 *
 * - `running`: the main process runs.
 * - `completed`: the command ended by itself, with any exit code or signal.
 * - `timed_out`: Sallyport ended the command at its timeout.
 * - `killed`: Sallyport ended the command on request, or because it exceeded a resource limit.
 * - `failed`: the command could not be started.
 * - `lost`: the keeper of the command was killed, or its machine went down; the exit code is unknown.
 * - `pending`: approval is required. Nothing has run.
 * - `blocked`, `denied`: policy or a person refused the command. Nothing has run.
 *
 * @example
 * ```ts
 * const { status } = await gateway.run({ command: "sleep 10", timeoutMs: 100 });
 * console.log(status); // timed_out
 * ```
 */
export type Status = (typeof STATUSES)[number];

/**
 * The resources that a process tree has used.
 *
 * @example
 * ```ts
 * const { resourceUsage } = await gateway.run({ command: "seq 100000 | sort -r > numbers.txt" });
 * console.log(resourceUsage?.cpuMs, resourceUsage?.memoryPeakBytes);
 * ```
 */
export interface ResourceUsage {
  /** CPU time in user and kernel mode, in milliseconds. */
  cpuMs: number;
  /** Peak memory, in bytes. */
  memoryPeakBytes: number;
  /** Bytes read by system calls, from files, pipes and sockets. */
  ioReadBytes: number;
  /** Bytes written by system calls, to files, pipes and sockets. */
  ioWriteBytes: number;
}

/**
 * The result of `gateway.run`. It is returned for every outcome; check `status`.
 *
 * @example
 * ```ts
 * const result = await gateway.run({ command: "echo out; echo err >&2; exit 3" });
 * console.log(result.status, result.exitCode); // completed 3
 * console.log(JSON.stringify(result.stdout), JSON.stringify(result.stderr)); // "out\n" "err\n"
 * ```
 */
export interface RunResult {
  /** The ID of the session. */
  id: string;
  /** The name of the session. */
  name: string;
  /** The outcome. */
  status: Status;
  /** The exit code. Null when the command did not run, still runs, or was ended by a signal. */
  exitCode: number | null;
  /** The signal that ended the main process. Null when none did. */
  signal: NodeJS.Signals | null;
  /** The standard output, up to 1 MiB. With `capture: "merged"` or `pty`, the output of both streams. */
  stdout: string;
  /** The standard error, up to 1 MiB. Empty with `capture: "merged"` or `pty`. */
  stderr: string;
  /** Both streams in the order in which they were written, up to 1 MiB. */
  output: string;
  /** How long the command ran, in milliseconds. */
  durationMs: number;
  /** True when the status is `timed_out`. */
  timedOut: boolean;
  /** The number of bytes of each stream that `stdout` and `stderr` omit. The logs have them. */
  truncated: { stdout: number; stderr: number };
  /** The number of processes that the command left running, which were ended. */
  leftover: number;
  /** The resources used by the process tree. Null when the command did not run or still runs. */
  resourceUsage: ResourceUsage | null;
  /** The verdict of the policy. Null when the request was refused before the policy was applied. */
  verdict: Verdict | null;
  /** The ID of the approval that was requested or used. Null when none was required. */
  approvalId: string | null;
  /** The sandbox, such as `workspace-write`, `isolated, network off` or `off`. */
  sandbox: string;
  /** Remarks about the run, such as an unsupported sandbox feature. */
  warnings: string[];
  /** Likely reasons for a failure that the sandbox caused, and what to request instead. */
  hints: readonly Recovery[];
  /**
   * Why the command did not run or could not be completed, or why the shell could not start a program. Null for other
   * outcomes, whatever the exit code.
   */
  error: { type: SallyportError["type"]; message: string; recovery: readonly Recovery[] } | null;
}
