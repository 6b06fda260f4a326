import * as z from "zod";
import type { Approval, Grant } from "../core/approval.ts";
import { LONGEST_TIMEOUT_MS } from "../core/clock.ts";
import type { RunResult } from "../core/result.ts";
import { count as byteCount, ErrorBody, Signal, Status, Usage } from "../core/session-schema.ts";

/** What answers look like. They describe; what goes out is what the gateway gave. */

export const Span = z.object({ start: z.int(), end: z.int() });

export const VerdictSchema = z
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

export const RunResultSchema = z
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
    truncated: z.object({ stdout: byteCount, stderr: byteCount }),
    leftover: z.int(),
    resourceUsage: Usage.nullable(),
    verdict: VerdictSchema.nullable(),
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
        offset: byteCount,
        dropped: byteCount,
        timeMs: z.number().nullable(),
        text: z.string().optional(),
        base64: z.string().optional().describe("Instead of `text`, where the bytes are no UTF-8"),
      }),
    ),
    nextOffset: byteCount,
    totalBytes: byteCount,
    droppedBytes: byteCount,
    totalLines: byteCount.optional(),
  })
  .meta({ id: "Logs" });

/** A whole number from 0 up. */
export const count = (most: number = Number.MAX_SAFE_INTEGER) =>
  z
    .string()
    .regex(/^\d{1,16}$/, "must be a whole number")
    .transform(Number)
    .refine((value) => value <= most, `must be at most ${most}`)
    .meta({ type: "integer", minimum: 0, maximum: most });

/** Also below 0. */
export const integer = () =>
  z
    .string()
    .regex(/^-?\d{1,15}$/, "must be a whole number")
    .transform(Number)
    .meta({ type: "integer" });

export const flag = () =>
  z
    .enum(["true", "false"], 'must be "true" or "false"')
    .transform((value) => value === "true")
    .meta({ type: "boolean" });

/** What is looked for, or a name: long enough for every honest one. */
export const shortText = (most = 1024) => z.string().max(most);

/** ms since the epoch, or an ISO time. */
export const time = () =>
  z
    .string()
    .max(40)
    .transform((text) => (/^\d{1,15}$/.test(text) ? Number(text) : Date.parse(text)))
    .refine((ms) => !Number.isNaN(ms), "must be milliseconds since the epoch or an ISO time")
    .meta({ type: "string", description: "An ISO time, or milliseconds since the epoch" });

export const milliseconds = z.int().min(0).max(LONGEST_TIMEOUT_MS);
/** No answer is waited for longer: whatever lies between may not keep a silent connection for ever. */
export const waitTime = z.int().min(0).max(3_600_000);

const Shown = z.object({ text: z.string(), marks: z.array(Span) });
const Target = z.object({
  executable: z.string(),
  args: z.array(z.string()),
  cwd: z.string(),
  piped: z.boolean(),
});

const Decision = z.object({
  decision: z.enum(["once", "always", "deny"]),
  who: z.string(),
  channel: z.enum(["cli", "terminal", "console", "http", "library", "mcp-host"]),
  at: z.string(),
  reason: z.string().optional(),
  grant: z
    .object({ args: z.union([z.literal("exact"), z.array(z.string())]).optional(), expiresMs: z.number().optional() })
    .optional(),
});

export const ApprovalSchema = z
  .object({
    id: z.string(),
    agent: z.string(),
    status: z.enum(["pending", "approved", "denied", "expired", "used"]),
    createdAt: z.string(),
    expiresAt: z.string(),
    decidedAt: z.string().nullable(),
    request: z.object({
      agent: z.string(),
      command: Shown,
      commands: z.array(
        z.object({
          text: z.string(),
          program: z.string(),
          cwd: z.string().nullable(),
          via: z.array(z.string()),
          notes: z.array(z.string()),
        }),
      ),
      analyzable: z.boolean(),
      cwd: z.string(),
      environment: z.array(z.object({ name: z.string(), value: z.string() })),
      stdin: Shown.nullable(),
      confinement: z.string(),
      reasons: z.array(z.object({ rule: z.string(), message: z.string(), span: Span.nullable() })),
      intent: Shown.nullable(),
      covers: z.array(
        z.object({
          path: z.string(),
          role: z.enum(["program", "interpreter", "script", "project file"]),
          sha256: z.string().nullable(),
        }),
      ),
      changed: z.array(z.string()),
      always: z.union([
        z.object({ ok: z.literal(true), commands: z.array(Target) }),
        z.object({ ok: z.literal(false), why: z.string() }),
      ]),
    }),
    quorum: z.object({ rule: z.enum(["any", "majority", "unanimous"]), approvers: z.array(z.string()) }),
    decisions: z.array(Decision),
    reason: z.string().nullable(),
    session: z.string().nullable(),
  })
  .meta({ id: "Approval" }) satisfies z.ZodType<Omit<Approval, "quorum">>;

export const GrantSchema = z
  .object({
    id: z.string(),
    agent: z.string(),
    executable: z.string(),
    args: z.union([
      z.object({ kind: z.literal("exact"), values: z.array(z.string()) }),
      z.object({ kind: z.literal("pattern"), patterns: z.array(z.string()) }),
    ]),
    cwd: z.string(),
    piped: z.boolean(),
    createdAt: z.string(),
    createdBy: z.string(),
    expiresAt: z.string().nullable(),
    lastUsedAt: z.string().nullable(),
    revokedAt: z.string().nullable(),
    approval: z.string().nullable(),
    current: z.boolean(),
  })
  .meta({ id: "Grant" }) satisfies z.ZodType<Grant>;
