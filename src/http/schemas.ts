import * as z from "zod";
import type { Approval, Grant } from "../core/approval.ts";
import { LONGEST_TIMEOUT_MS } from "../core/clock.ts";
import type { RunResult } from "../core/result.ts";
import { count as byteCount, ErrorBody, RecoveryBody, Signal, Status, Usage } from "../core/session-schema.ts";

// Response schemas only describe responses in the OpenAPI document. Responses are not validated against them.

export const Span = z.object({
  start: z.int().describe("Index of the first character"),
  end: z.int().describe("Index after the last character"),
});

const verdict = z.enum(["blocked", "deny", "ask", "allow"]).describe("Verdict; `ask` means that approval is required");

export const VerdictSchema = z
  .object({
    command: z.string().describe("The checked command"),
    verdict,
    analyzable: z.boolean().describe("Whether everything the command would run is known"),
    reasons: z
      .array(
        z.object({
          rule: z.string().describe("Rule ID"),
          message: z.string().describe("Why the rule matched"),
          span: Span.nullable().describe("Part of the command that the rule matched"),
          suggestion: z.string().nullable().describe("A safe alternative"),
        }),
      )
      .describe("Rules that led to the verdict"),
    commands: z.array(z.looseObject({})).describe("Commands found in the text"),
    sandbox: z
      .object({
        level: z.enum(["full", "partial", "none"]).describe("How much of the sandbox this machine enforces"),
        notEnforced: z.array(z.string()).describe("What is not enforced; see docs/sandbox.md"),
      })
      .optional()
      .describe("The sandbox of the command; only in the result of a check"),
  })
  .meta({ id: "Verdict" });

export const RunResultSchema = z
  .object({
    id: z.string().describe("Session ID"),
    name: z.string().describe("Session name"),
    status: Status.describe("Status of the session"),
    exitCode: z.int().nullable().describe("Exit code; null when ended by a signal or not run"),
    signal: Signal.nullable().describe("Signal that ended the command"),
    stdout: z.string().describe("Standard output, possibly truncated"),
    stderr: z.string().describe("Standard error, possibly truncated"),
    output: z.string().describe("Both streams in the order in which they were written"),
    durationMs: z.number().describe("Duration in milliseconds"),
    timedOut: z.boolean().describe("Whether the timeout ended the command"),
    truncated: z
      .object({ stdout: byteCount.describe("Bytes of stdout"), stderr: byteCount.describe("Bytes of stderr") })
      .describe("Bytes of each stream that are missing from the result"),
    leftover: z.int().describe("Number of processes that the command left behind and that were stopped"),
    resourceUsage: Usage.nullable().describe("Resource usage of the process tree"),
    verdict: VerdictSchema.nullable(),
    approvalId: z.string().nullable().describe("ID of the approval request, when one was created"),
    sandbox: z.string().describe("Sandbox profile in effect"),
    warnings: z.array(z.string()).describe("Warnings about the run"),
    hints: z
      .array(RecoveryBody)
      .readonly()
      .describe("Hints for the agent, such as why the sandbox stopped the command"),
    error: ErrorBody.nullable().describe("Why the command was not run or failed"),
  })
  .meta({ id: "RunResult" }) satisfies z.ZodType<Omit<RunResult, "verdict" | "error">>;

/** A verdict as recorded in the audit log. */
export const RecordedVerdict = z.object({
  verdict,
  rules: z.array(z.string()).describe("IDs of the rules that matched"),
  programs: z.array(z.string()).describe("Resolved paths of the programs"),
});

export const LogAnswer = z
  .object({
    chunks: z
      .array(
        z.object({
          stream: z.enum(["stdout", "stderr", "output"]).describe("Stream of the chunk"),
          offset: byteCount.describe("Byte offset in its stream"),
          dropped: byteCount.describe("Bytes missing before the chunk"),
          timeMs: z.number().nullable().describe("When it was written, in milliseconds since the epoch"),
          text: z.string().optional().describe("Content as text"),
          base64: z.string().optional().describe("Content in base64, instead of `text`, when it is not valid UTF-8"),
        }),
      )
      .describe("Chunks in the order in which they were written"),
    nextOffset: byteCount.describe("Byte offset of the next read"),
    totalBytes: byteCount.describe("Bytes written to the requested streams so far"),
    droppedBytes: byteCount.describe("Bytes missing from this response"),
    totalLines: byteCount.optional().describe("Number of lines; only when lines were requested"),
  })
  .meta({ id: "Logs" });

/** Returns the schema of a query parameter that is a non-negative integer. */
export const count = (most: number = Number.MAX_SAFE_INTEGER) =>
  z
    .string()
    .regex(/^\d{1,16}$/, "must be a non-negative integer")
    .transform(Number)
    .refine((value) => value <= most, `must be at most ${most}`)
    .meta({ type: "integer", minimum: 0, maximum: most });

/** Returns the schema of a query parameter that is an integer. */
export const integer = () =>
  z
    .string()
    .regex(/^-?\d{1,15}$/, "must be an integer")
    .transform(Number)
    .meta({ type: "integer" });

export const flag = () =>
  z
    .enum(["true", "false"], 'must be "true" or "false"')
    .transform((value) => value === "true")
    .meta({ type: "boolean" });

/** Returns the schema of a name or search text of at most `most` characters. */
export const shortText = (most = 1024) => z.string().max(most);

/** Returns the schema of a query parameter that is an ISO 8601 time, or milliseconds since the epoch. */
export const time = () =>
  z
    .string()
    .max(40)
    .transform((text) => (/^\d{1,15}$/.test(text) ? Number(text) : Date.parse(text)))
    .refine((ms) => !Number.isNaN(ms), "must be an ISO 8601 time or milliseconds since the epoch")
    .meta({ type: "string", description: "ISO 8601 time, or milliseconds since the epoch" });

export const milliseconds = z.int().min(0).max(LONGEST_TIMEOUT_MS);
/** How long a request may wait, in milliseconds. Limited, because proxies close idle connections. */
export const waitTime = z.int().min(0).max(3_600_000);

const Shown = z.object({
  text: z.string().describe("Text in which invisible characters are replaced with visible codes"),
  marks: z.array(Span).describe("Parts of the text that replace invisible characters"),
});
const Target = z.object({
  executable: z.string().describe("Resolved path of the program"),
  args: z.array(z.string()).describe("Arguments"),
  cwd: z.string().describe("Working directory"),
  piped: z.boolean().describe("Whether the command is part of a pipeline"),
});

const Decision = z.object({
  decision: z.enum(["once", "always", "deny"]).describe("The decision; `always` creates a grant"),
  who: z.string().describe("Person who decided"),
  channel: z
    .enum(["cli", "terminal", "console", "http", "library", "mcp-host", "hook"])
    .describe("Where the person decided"),
  at: z.string().describe("When the person decided (ISO 8601)"),
  reason: z.string().optional().describe("Reason given to the agent"),
  grant: z
    .object({
      args: z
        .union([z.literal("exact"), z.array(z.string())])
        .optional()
        .describe("Exactly these arguments, or one pattern per argument"),
      expiresMs: z.number().optional().describe("Duration of the grant in milliseconds; no expiry when omitted"),
    })
    .optional()
    .describe("Scope of the grant, with `always`"),
});

export const ApprovalSchema = z
  .object({
    id: z.string().describe("Approval ID"),
    agent: z.string().describe("Agent that requested the approval"),
    status: z
      .enum(["pending", "approved", "denied", "expired", "used"])
      .describe("Status; an approval is `used` when its command has started"),
    createdAt: z.string().describe("When the approval was requested (ISO 8601)"),
    expiresAt: z.string().describe("When the request or the unused approval expires (ISO 8601)"),
    decidedAt: z.string().nullable().describe("When the request was decided (ISO 8601)"),
    request: z.object({
      agent: z.string().describe("Agent that requested the approval"),
      command: Shown.describe("The complete command"),
      commands: z
        .array(
          z.object({
            text: z.string().describe("Command with quoted arguments"),
            program: z.string().describe("Resolved path of the program, or a description such as `shell builtin`"),
            cwd: z.string().nullable().describe("Working directory; null when unknown"),
            via: z.array(z.string()).describe("Wrappers around the command, outermost first"),
            notes: z.array(z.string()).describe("Effects of the command"),
          }),
        )
        .describe("Commands that would run, as far as they are known"),
      analyzable: z.boolean().describe("Whether everything the command would run is known"),
      cwd: z.string().describe("Working directory"),
      environment: z
        .array(z.object({ name: z.string().describe("Name"), value: z.string().describe("Value, masked if secret") }))
        .describe("Variables added to the environment"),
      stdin: Shown.nullable().describe("Standard input, when the request contains it"),
      confinement: z.string().describe("The sandbox the command would run in"),
      reasons: z
        .array(
          z.object({
            rule: z.string().describe("Rule ID"),
            message: z.string().describe("Why the rule matched"),
            span: Span.nullable().describe("Part of the command that the rule matched"),
          }),
        )
        .describe("Why approval is required"),
      intent: Shown.nullable().describe("Purpose as stated by the agent; not verified"),
      covers: z
        .array(
          z.object({
            path: z.string().describe("Path of the file"),
            role: z
              .enum(["program", "interpreter", "script", "project file", "file", "folder"])
              .describe("Role of the file"),
            sha256: z
              .string()
              .nullable()
              .describe("Hash of the content; null when the file is too large or unreadable"),
          }),
        )
        .describe("Files that are checked again before the command runs"),
      unbound: z.array(z.string()).describe("Files that may change before the command runs without being noticed"),
      changed: z.array(z.string()).describe("Changes since an earlier approval of this command"),
      always: z
        .union([
          z.object({ ok: z.literal(true), commands: z.array(Target).describe("Commands that a grant would allow") }),
          z.object({ ok: z.literal(false), why: z.string().describe("Why a grant is not possible") }),
        ])
        .describe("Whether the decision `always` is possible"),
    }),
    quorum: z
      .object({
        rule: z.enum(["any", "majority", "unanimous"]).describe("How many approvers must agree"),
        approvers: z.array(z.string()).describe("People who may decide; empty for anyone"),
      })
      .describe("Who decides"),
    decisions: z.array(Decision).describe("Decisions so far"),
    reason: z.string().nullable().describe("Reason for a denial"),
    session: z.string().nullable().describe("ID of the session that used the approval"),
  })
  .meta({ id: "Approval" }) satisfies z.ZodType<Omit<Approval, "quorum">>;

export const GrantSchema = z
  .object({
    id: z.string().describe("Grant ID"),
    agent: z.string().describe("Agent the grant applies to"),
    executable: z.string().describe("Resolved path of the program"),
    args: z
      .union([
        z.object({ kind: z.literal("exact"), values: z.array(z.string()).describe("Exact arguments") }),
        z.object({ kind: z.literal("pattern"), patterns: z.array(z.string()).describe("One pattern per argument") }),
      ])
      .describe("Arguments that the grant allows"),
    cwd: z.string().describe("Working directory the grant applies to"),
    piped: z.boolean().describe("Whether the grant applies in a pipeline"),
    createdAt: z.string().describe("When the grant was created (ISO 8601)"),
    createdBy: z.string().describe("Person who created the grant"),
    expiresAt: z.string().nullable().describe("When the grant expires (ISO 8601); null for no expiry"),
    lastUsedAt: z.string().nullable().describe("When the grant was last used (ISO 8601)"),
    revokedAt: z.string().nullable().describe("When the grant was revoked (ISO 8601)"),
    approval: z.string().nullable().describe("ID of the approval that created the grant"),
    current: z.boolean().describe("Whether the program is unchanged; a grant does not apply to a changed program"),
  })
  .meta({ id: "Grant" }) satisfies z.ZodType<Grant>;
