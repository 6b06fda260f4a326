import * as z from "zod";
import type { Approval, Grant } from "../../core/approval.ts";
import { Span } from "./session.ts";

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

export const ApprovalShape = z
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

export const GrantShape = z
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
