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
  agent: shortText(128).min(1).optional().describe("Whose commands it is about"),
  command: z.array(z.string().max(4096)).min(1).max(256).describe("The program and its arguments, as a list"),
  cwd: shortText(4096).optional().describe("Only in this folder; the workspace when left out"),
  args: z
    .array(z.string().min(1).max(4096))
    .max(256)
    .optional()
    .describe("One pattern per argument instead of these exact ones"),
  expiresMs: milliseconds.min(1).optional().describe("From now; for good when left out"),
});

const loose = z.looseObject({});
const Policy = z
  .object({
    security: z.enum(["deny", "allowlist", "full"]),
    ask: z.enum(["off", "on-miss", "always"]),
    sandbox: z.string(),
    rules: z.array(loose),
    allowlist: z.array(loose),
    safeBins: z.array(z.string()).nullable(),
    allowDenied: z.array(z.string()),
  })
  .meta({ id: "Policy" });

const BuiltIn = z.object({
  id: z.string(),
  tier: z.enum(["blocked", "deny"]),
  message: z.string(),
  suggestion: z.string(),
});

const builtIn = RULES.map(({ id, tier, message, suggestion }) => ({ id, tier, message, suggestion }));

export const ruleOperations: readonly Operation[] = [
  operation({
    method: "GET",
    path: "/v1/rules",
    id: "listRules",
    summary: "What is allowed, asked about and forbidden: configured rules, grants, and what is built in",
    roles: READERS,
    query: z.strictObject({ agent: shortText(128).min(1).optional() }),
    response: z.object({ configured: Policy, grants: z.array(GrantSchema), builtIn: z.array(BuiltIn) }),
    handle: ({ service, caller, query: { agent } }) => {
      const gateway = gatewayOf(service, caller, agent);
      return { configured: gateway.policy, grants: gateway.approvals.grants.list({ agent }), builtIn };
    },
  }),
  operation({
    method: "POST",
    path: "/v1/rules",
    id: "addRule",
    summary: "Allow a command for good, held to the same conditions as a yes to a request",
    roles: OPERATORS,
    body: NewRule,
    response: z.object({ grants: z.array(GrantSchema) }),
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
    summary: "Which of these commands such a rule would let through; nothing is run, nothing is added",
    roles: READERS,
    body: z.strictObject({ rule: NewRule, commands: z.array(z.string().min(1).max(65_536)).max(MAX_TRIED) }),
    response: z.object({
      problem: z.string().nullable().describe("Why there can be no such rule"),
      covers: z.array(z.looseObject({})),
      results: z.array(z.object({ command: z.string(), covered: z.boolean(), verdict: z.string(), why: z.string() })),
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
    summary: "Take back what was allowed for good. What is configured is changed in its file",
    roles: OPERATORS,
    response: GrantSchema,
    handle: ({ gateway, params, caller: { name, channel } }) =>
      gateway.approvals.grants.revoke(params.id ?? "", { who: name, channel }),
  }),
  operation({
    method: "POST",
    path: "/v1/check",
    id: "check",
    summary: "Judge a command without running it; with modes also what each mode would make of it",
    roles: [...READERS, "agent"],
    body: z.strictObject({
      command: z
        .string()
        .min(1)
        .max(1 << 20),
      args: z.array(z.string().max(65_536)).max(4096).optional(),
      cwd: shortText(4096).optional(),
      security: z.enum(["deny", "allowlist", "full"]).optional(),
      ask: z.enum(["off", "on-miss", "always"]).optional(),
      sandbox: z.enum(["off", "read-only", "workspace-write", "isolated"]).optional(),
      agent: shortText(128).min(1).optional().describe("By whose settings; for persons only"),
      modes: z.boolean().optional(),
    }),
    response: VerdictSchema.extend({
      modes: z
        .array(z.object({ security: z.string(), ask: z.string(), verdict: z.string() }))
        .optional()
        .describe("Where asked for"),
      unknowns: z.array(z.object({ span: Span, why: z.string() })).optional(),
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
  const told = { command, verdict: verdict.verdict };
  if (verdict.verdict === "blocked" || verdict.verdict === "deny") {
    return { ...told, covered: false, why: verdict.reasons[0]?.message ?? "It is forbidden." };
  }
  const found = grantable(verdict, { workspace });
  if (!found.ok) return { ...told, covered: false, why: `Nothing like it can be allowed for good: ${found.why}.` };
  const covered = found.commands.every((wanted) => targets.some((target) => wouldCover(target, scope, wanted)));
  return { ...told, covered, why: covered ? "It would be let through." : "It is another command." };
}
