import { resolve } from "node:path";
import * as z from "zod";
import { grantable } from "../../approval/grantable.ts";
import { wouldCover } from "../../approval/grants.ts";
import type { GrantScope, GrantTarget } from "../../core/approval.ts";
import { SallyportError } from "../../core/error.ts";
import { grantTargets } from "../../gateway/check.ts";
import type { Gateway } from "../../gateway/gateway.ts";
import { RULES } from "../../policy/rules/index.ts";
import { gatewayOf } from "../guard/authenticate.ts";
import { OPERATORS, type Operation, operation, READERS } from "../operation.ts";
import { GrantSchema, milliseconds, Span, shortText, VerdictSchema } from "../schemas.ts";

const MAX_TRIED = 50;
const DEFAULT_AGENT = "default";

const NewRule = z.strictObject({
  agent: shortText(128).min(1).optional().describe("Agent the grant applies to (default: `default`)"),
  command: z.array(z.string().max(4096)).min(1).max(256).describe("Program and arguments"),
  cwd: shortText(4096).optional().describe("Working directory the grant applies to (default: the workspace)"),
  args: z
    .array(z.string().min(1).max(4096))
    .max(256)
    .optional()
    .describe("One pattern per argument, instead of exactly these arguments"),
  expiresMs: milliseconds.min(1).optional().describe("Duration of the grant in milliseconds; no expiry when omitted"),
});

const loose = z.looseObject({});
const Policy = z
  .object({
    security: z.enum(["deny", "allowlist", "full"]).describe("Security mode"),
    ask: z.enum(["off", "on-miss", "always"]).describe("Approval mode"),
    sandbox: z.string().describe("Default sandbox profile"),
    rules: z.array(loose).describe("Configured rules"),
    allowlist: z.array(loose).describe("Allowlist entries"),
    safeBins: z
      .array(z.string())
      .nullable()
      .describe("Text filters that need no allowlist entry; null for all built-in ones"),
    allowDenied: z.array(z.string()).describe("IDs of built-in denials that are turned off"),
  })
  .meta({ id: "Policy" });

const BuiltIn = z.object({
  id: z.string().describe("Rule ID"),
  tier: z.enum(["blocked", "deny"]).describe("Permanent block, or a denial that the operator can lift"),
  message: z.string().describe("What the rule matches"),
  suggestion: z.string().describe("A safe alternative"),
});

const builtIn = RULES.map(({ id, tier, message, suggestion }) => ({ id, tier, message, suggestion }));

export const ruleOperations: readonly Operation[] = [
  operation({
    method: "GET",
    path: "/v1/rules",
    id: "listRules",
    summary: "List configured rules, grants and built-in rules",
    roles: READERS,
    query: z.strictObject({ agent: shortText(128).min(1).optional().describe("Show the policy of this agent") }),
    response: z.object({
      configured: Policy,
      grants: z.array(GrantSchema).describe("Standing grants"),
      builtIn: z.array(BuiltIn).describe("Built-in rules"),
    }),
    handle: ({ service, caller, query: { agent } }) => {
      const gateway = gatewayOf(service, caller, agent);
      return { configured: gateway.policy, grants: gateway.approvals.grants.list({ agent }), builtIn };
    },
  }),
  operation({
    method: "POST",
    path: "/v1/rules",
    id: "addRule",
    summary: "Create a grant",
    roles: OPERATORS,
    body: NewRule,
    response: z.object({ grants: z.array(GrantSchema).describe("Grants that were created") }),
    handle: ({ service, gateway, caller: { name, channel }, body }) => {
      const { agent = DEFAULT_AGENT } = body;
      const made = { agent, identity: null, scope: scopeOf(body), who: name, channel, approval: null };
      const targets = targetsOf(body, service.workspace);
      return { grants: targets.map((target) => gateway.approvals.grants.make({ ...made, target })) };
    },
  }),
  operation({
    method: "POST",
    path: "/v1/rules/try",
    id: "tryRule",
    summary: "Test a grant against example commands without creating it",
    roles: READERS,
    body: z.strictObject({
      rule: NewRule.describe("The grant to test"),
      commands: z.array(z.string().min(1).max(65_536)).max(MAX_TRIED).describe("Example commands; they are not run"),
    }),
    response: z.object({
      problem: z.string().nullable().describe("Why the grant cannot be created; null if it can"),
      covers: z.array(z.looseObject({})).describe("What the grant would allow"),
      results: z
        .array(
          z.object({
            command: z.string().describe("The example command"),
            covered: z.boolean().describe("Whether the grant would allow it"),
            verdict: z.string().describe("Verdict without the grant"),
            why: z.string().describe("Explanation of the result"),
          }),
        )
        .describe("One result per example command"),
    }),
    handle: ({ service, caller, body: { rule, commands } }) => {
      const gateway = gatewayOf(service, caller, rule.agent);
      const { targets, problem } = wouldTarget(rule, service.workspace);
      const place = { workspace: service.workspace, cwd: rule.cwd };
      const results = commands.map((command) => tried(gateway, command, targets, scopeOf(rule), place));
      return { problem, covers: targets, results };
    },
  }),
  operation({
    method: "DELETE",
    path: "/v1/rules/:id",
    id: "removeRule",
    summary: "Revoke a grant",
    roles: OPERATORS,
    response: GrantSchema,
    handle: ({ gateway, params, caller: { name, channel } }) =>
      gateway.approvals.grants.revoke(params.id ?? "", { who: name, channel }),
  }),
  operation({
    method: "POST",
    path: "/v1/check",
    id: "check",
    summary: "Check a command against the policy without running it",
    roles: [...READERS, "agent"],
    body: z.strictObject({
      command: z
        .string()
        .min(1)
        .max(1 << 20)
        .describe("Shell text, or the program when `args` is given"),
      args: z.array(z.string().max(65_536)).max(4096).optional().describe("Arguments of a program without a shell"),
      cwd: shortText(4096).optional().describe("Working directory (default: the workspace)"),
      security: z
        .enum(["deny", "allowlist", "full"])
        .optional()
        .describe("Security mode to check with (default: as configured)"),
      ask: z
        .enum(["off", "on-miss", "always"])
        .optional()
        .describe("Approval mode to check with (default: as configured)"),
      sandbox: z
        .enum(["off", "read-only", "workspace-write", "isolated"])
        .optional()
        .describe("Sandbox profile to check with (default: as configured)"),
      agent: shortText(128).min(1).optional().describe("Use the policy of this agent; not available to agents"),
      modes: z.boolean().optional().describe("Include the verdict in each mode"),
    }),
    response: VerdictSchema.extend({
      modes: z
        .array(
          z.object({
            security: z.string().describe("Security mode"),
            ask: z.string().describe("Approval mode"),
            verdict: z.string().describe("Verdict in these modes"),
          }),
        )
        .optional()
        .describe("Verdict in each mode, if requested"),
      unknowns: z
        .array(z.object({ span: Span, why: z.string().describe("Why this part cannot be analyzed") }))
        .optional()
        .describe("Parts of the command that cannot be analyzed"),
    }).meta({ id: "CheckAnswer" }),
    handle: ({ service, caller, body: { command, args, agent, modes, ...options } }) => {
      const gateway = gatewayOf(service, caller, agent);
      const asked = args ? [command, ...args] : command;
      const verdict = gateway.check(asked, options);
      if (!modes) return verdict;
      const { cwd, sandbox } = options;
      const place = { ...(cwd === undefined ? {} : { cwd }), ...(sandbox === undefined ? {} : { sandbox }) };
      return { ...verdict, modes: gateway.modes(asked, place) };
    },
  }),
];

type Rule = z.infer<typeof NewRule>;

function scopeOf({ args, expiresMs }: Rule): GrantScope {
  return { ...(args ? { args } : {}), ...(expiresMs === undefined ? {} : { expiresMs }) };
}

function targetsOf({ command, cwd = ".", agent = DEFAULT_AGENT }: Rule, workspace: string): GrantTarget[] {
  return grantTargets(command, resolve(workspace, cwd), agent);
}

function wouldTarget(rule: Rule, workspace: string): { targets: GrantTarget[]; problem: string | null } {
  try {
    return { targets: targetsOf(rule, workspace), problem: null };
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error;
    return { targets: [], problem: error.message };
  }
}

function tried(
  gateway: Gateway,
  command: string,
  targets: readonly GrantTarget[],
  scope: GrantScope,
  { workspace, cwd }: { workspace: string; cwd: string | undefined },
) {
  const verdict = gateway.check(command, cwd === undefined ? {} : { cwd });
  const result = { command, verdict: verdict.verdict };
  if (verdict.verdict === "blocked" || verdict.verdict === "deny") {
    return { ...result, covered: false, why: verdict.reasons[0]?.message ?? "The policy denies this command." };
  }
  const found = grantable(verdict, { workspace });
  if (!found.ok) return { ...result, covered: false, why: `A grant cannot allow this command: ${found.why}.` };
  const covered = found.commands.every((wanted) => targets.some((target) => wouldCover(target, scope, wanted)));
  return { ...result, covered, why: covered ? "Allowed by this grant." : "Not covered by this grant." };
}
