import * as z from "zod";
import type { RunResult } from "../../core/result.ts";
import { count, ErrorBody, Signal, Status, Usage } from "../../core/session-shape.ts";

export { ErrorBody, SessionShape, Status, Usage } from "../../core/session-shape.ts";

/** What answers look like. They describe; what goes out is what the gateway gave. */

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
