import * as z from "zod";
import { STATUSES } from "./result.ts";
import type { SessionInfo } from "./session.ts";
import type { Step } from "./step.ts";

export const RecoveryBody = z.object({
  action: z.string().describe("Stable name of the recovery action"),
  hint: z.string().describe("What to do next"),
  step: (z.looseObject({ name: z.string() }) as unknown as z.ZodType<Step>)
    .optional()
    .describe("The step as data, if its sentence depends on the reader"),
});

export const ErrorBody = z.object({
  type: z.string().describe("Error type, such as `CommandDenied`"),
  message: z.string().describe("What failed and why"),
  recovery: z.array(RecoveryBody).describe("Ways to recover"),
});

export const Status = z.enum(STATUSES);
export const count = z.int().min(0);
const size = z.object({
  columns: count.describe("Width in columns"),
  rows: count.describe("Height in rows"),
});

export const Usage = z.object({
  cpuMs: z.number().describe("CPU time in milliseconds"),
  memoryPeakBytes: z.number().describe("Peak memory in bytes"),
  ioReadBytes: z.number().describe("Bytes read by system calls, from files, pipes and sockets"),
  ioWriteBytes: z.number().describe("Bytes written by system calls, to files, pipes and sockets"),
});

const Limit = z.number().nullable();
const Limits = z.object({
  cpu: Limit.describe("Number of CPU cores"),
  memoryBytes: Limit.describe("Memory of the process tree in bytes"),
  processes: Limit.describe("Number of processes and threads"),
  diskBytes: Limit.describe("Bytes the process tree may write"),
  fileSize: Limit.describe("Size of a single file in bytes"),
  openFiles: Limit.describe("Open files per process"),
});

const Stream = z.object({
  bytes: count.describe("Bytes written by the command"),
  droppedStart: count.describe("Offset of the first dropped byte"),
  droppedEnd: count.describe("Offset after the last dropped byte"),
  lost: count.describe("Bytes lost because the disk was full"),
});

/** A signal name, such as `SIGTERM`. */
export const Signal = z.string() as unknown as z.ZodType<NodeJS.Signals>;

export const SessionSchema = z
  .object({
    id: z.string().describe("Session id"),
    name: z.string().describe("Session name"),
    agent: z.string().describe("Agent that started the session"),
    status: Status.describe("Current status"),
    command: z.string().describe("Shell text, or the program when `args` is not null"),
    args: z
      .array(z.string())
      .nullable()
      .describe("Arguments of a program that runs without a shell; null for shell text"),
    cwd: z.string().describe("Working directory"),
    envNames: z.array(z.string()).describe("Names of the environment variables set by the request"),
    background: z.boolean().describe("Whether the session was started in the background"),
    capture: z.enum(["apart", "merged"]).describe("Whether stdout and stderr are recorded as two streams or as one"),
    pty: size.nullable().describe("Size of the terminal; null for a session on pipes"),
    intent: z.string().nullable().describe("Purpose as stated by the agent"),
    logFile: z.string().nullable().describe("Path of the additional log file"),
    host: z.string().nullable().describe("Host of the fleet that runs the session; null for this host or when unknown"),
    gateway: z.string().nullable().describe("Gateway of the fleet that started the session; null for this gateway"),
    pid: z.int().nullable().describe("Process ID of the main process"),
    exitCode: z.int().nullable().describe("Exit code; null while running, or when ended by a signal"),
    signal: Signal.nullable().describe("Signal that ended the command"),
    coreDumped: z.boolean().describe("Whether the command dumped core"),
    startedAt: z.string().describe("Start time (ISO 8601)"),
    endedAt: z.string().nullable().describe("End time (ISO 8601); null while running, and when unknown"),
    durationMs: z.number().nullable().describe("Duration in milliseconds; null when unknown"),
    timeoutMs: z.number().describe("Timeout in milliseconds; 0 for none"),
    timedOut: z.boolean().describe("Whether the timeout ended the command"),
    leftover: z.int().describe("Number of descendants that were running when the main process ended"),
    lingering: z.boolean().describe("Whether descendants are still running after the main process ended"),
    limits: Limits.nullable().describe("Resource limits; a resource without a limit is null"),
    resourceUsage: Usage.nullable().describe("Resource usage of the process tree"),
    streams: z.partialRecord(z.enum(["stdout", "stderr", "output"]), Stream).describe("Recorded output streams"),
    sandbox: z.string().describe("Sandbox profile in effect, such as `workspace-write` or `off`"),
    warnings: z.array(z.string()).describe("Warnings about the session"),
    hints: z
      .array(RecoveryBody)
      .readonly()
      .describe("Hints for the agent, such as why the sandbox stopped the command"),
    error: ErrorBody.nullable().describe("Why the command was not run or failed"),
  })
  .meta({ id: "Session" }) satisfies z.ZodType<SessionInfo>;
