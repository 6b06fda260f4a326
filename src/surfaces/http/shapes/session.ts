import * as z from "zod";
import { type RunResult, STATUSES } from "../../../contract/result.ts";
import type { SessionInfo } from "../../../contract/session.ts";

/** What answers look like. They describe; what goes out is what the gateway gave. */

export const ErrorBody = z.object({
  type: z.string(),
  message: z.string(),
  recovery: z.array(z.object({ action: z.string(), hint: z.string() })),
});

export const Status = z.enum(STATUSES);
const count = z.int().min(0);
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

/** A signal's name as the system has it. */
const Signal = z.string() as unknown as z.ZodType<NodeJS.Signals>;

export const SessionShape = z
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

export const Span = z.object({ start: z.int(), end: z.int() });

export const VerdictShape = z
  .object({
    command: z.string(),
    verdict: z.enum(["blocked", "deny", "ask", "allow"]),
    analyzable: z.boolean(),
    reasons: z.array(
      z.object({
        rule: z.string(),
        message: z.string(),
        span: Span.nullable(),
        suggestion: z.string().nullable(),
      }),
    ),
    commands: z.array(z.looseObject({})),
  })
  .meta({ id: "Verdict" });

export const RunResultShape = z
  .object({
    id: z.string(),
    name: z.string(),
    status: Status,
    exitCode: z.int().nullable(),
    signal: Signal.nullable(),
    stdout: z.string(),
    stderr: z.string(),
    output: z.string(),
    durationMs: z.number(),
    timedOut: z.boolean(),
    truncated: z.object({ stdout: count, stderr: count }),
    leftover: z.int(),
    resourceUsage: Usage.nullable(),
    verdict: VerdictShape.nullable(),
    approvalId: z.string().nullable(),
    sandbox: z.string(),
    warnings: z.array(z.string()),
    hints: z.array(z.string()),
    error: ErrorBody.nullable(),
  })
  .meta({ id: "RunResult" }) satisfies z.ZodType<Omit<RunResult, "verdict" | "error">>;

/** What the audit keeps of the verdict a command got. */
export const RecordedVerdict = z.object({
  verdict: z.enum(["blocked", "deny", "ask", "allow"]),
  rules: z.array(z.string()),
  programs: z.array(z.string()),
});

export const LogAnswer = z
  .object({
    chunks: z.array(
      z.object({
        stream: z.enum(["stdout", "stderr", "output"]),
        offset: count,
        dropped: count,
        timeMs: z.number().nullable(),
        text: z.string().optional(),
        base64: z.string().optional().describe("Instead of `text`, where the bytes are no UTF-8"),
      }),
    ),
    nextOffset: count,
    totalBytes: count,
    droppedBytes: count,
    totalLines: count.optional(),
  })
  .meta({ id: "Logs" });
