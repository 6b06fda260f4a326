import * as z from "zod";
import { STATUSES } from "./result.ts";
import type { SessionInfo } from "./session.ts";

export const ErrorBody = z.object({
  type: z.string(),
  message: z.string(),
  recovery: z.array(z.object({ action: z.string(), hint: z.string() })),
});

export const Status = z.enum(STATUSES);
export const count = z.int().min(0);
const size = z.object({ columns: count, rows: count });

export const Usage = z.object({
  cpuMs: z.number(),
  memoryPeakBytes: z.number(),
  ioReadBytes: z.number(),
  ioWriteBytes: z.number(),
});

const Limit = z.number().nullable();
const Limits = z.object({
  cpu: Limit,
  memoryBytes: Limit,
  processes: Limit,
  diskBytes: Limit,
  fileSize: Limit,
  openFiles: Limit,
});

const Stream = z.object({ bytes: count, droppedStart: count, droppedEnd: count, lost: count });

/** A signal name, such as `SIGTERM`. */
export const Signal = z.string() as unknown as z.ZodType<NodeJS.Signals>;

export const SessionSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    agent: z.string(),
    status: Status,
    command: z.string(),
    args: z.array(z.string()).nullable(),
    cwd: z.string(),
    envNames: z.array(z.string()),
    background: z.boolean(),
    capture: z.enum(["apart", "merged"]),
    pty: size.nullable(),
    intent: z.string().nullable(),
    logFile: z.string().nullable(),
    host: z.string().nullable(),
    gateway: z.string().nullable(),
    pid: z.int().nullable(),
    exitCode: z.int().nullable(),
    signal: Signal.nullable(),
    coreDumped: z.boolean(),
    startedAt: z.string(),
    endedAt: z.string().nullable(),
    durationMs: z.number(),
    timeoutMs: z.number(),
    timedOut: z.boolean(),
    leftover: z.int(),
    lingering: z.boolean(),
    limits: Limits.nullable(),
    resourceUsage: Usage.nullable(),
    streams: z.partialRecord(z.enum(["stdout", "stderr", "output"]), Stream),
    sandbox: z.string(),
    warnings: z.array(z.string()),
    hints: z.array(z.string()),
    error: ErrorBody.nullable(),
  })
  .meta({ id: "Session" }) satisfies z.ZodType<SessionInfo>;
