/**
 * Turns facts into a verdict. `decide` is a pure function: the same facts, policy and context give the same verdict.
 *
 * 1. Built-in rules: blocks (invariant 3), then default denials.
 * 2. Rules from the configuration.
 * 3. Modes: a command that is not allowed is a miss, which requires approval or is denied.
 */

import type { Analysis, CommandFact } from "../core/facts.ts";
import { isSameName } from "../core/names.ts";
import type { Decision, Modes, Policy, Reason, Verdict } from "../core/policy.ts";
import type { Settings } from "../core/settings.ts";
import { allowedBy, isImplicitlyAllowed } from "./allowlist.ts";
import { type EffectiveModes, effectiveModes } from "./modes.ts";
import { onlyPrintsHelp, type RuleContext } from "./rule.ts";
import { RULES } from "./rules/index.ts";
import { isSafeBin } from "./safe-bins.ts";
import { ruleMatches } from "./user-rules.ts";

interface DecideContext {
  workspace: string;
  home: string;
  /** Whether the command runs in a sandbox, in which commands that cannot be analyzed may run. */
  confined: boolean;
  /** Current time in milliseconds since the epoch, for entries that expire. */
  now: number;
  agent?: string | null;
  /** Modes of this request, which can only tighten the policy. */
  request?: Partial<Modes>;
}

const SHORTEN = "Split the text into several shorter commands, or put long text in a file.";
const MAKE_LITERAL =
  "Write the command with literal arguments, or save the code to a file and run the file as a separate command.";
const SEVERITY: readonly Decision[] = ["allow", "ask", "deny", "blocked"];

interface Finding extends Reason {
  decision: Decision;
}

export function decide(analysis: Analysis, policy: Policy, context: DecideContext): Verdict {
  const own = Object.entries(policy.agents ?? {}).find(([name]) => isSameName(name, context.agent ?? ""));
  const modes = effectiveModes(policy, own?.[1], context.request);
  const findings: Finding[] = [];
  const scene: RuleContext = { workspace: context.workspace, home: context.home, commands: analysis.commands };
  for (const fact of analysis.commands) {
    builtInRules(fact, policy, scene, findings);
    userRules(fact, policy, findings);
  }
  byMode(analysis, policy, context, modes, findings);
  const verdict = findings.reduce<Decision>(
    (worst, { decision }) => (rank(decision) > rank(worst) ? decision : worst),
    "allow",
  );
  const { text, analyzable, commands } = analysis;
  return { command: text, verdict, analyzable, reasons: reasons(findings), commands };
}

function rank(decision: Decision): number {
  return SEVERITY.indexOf(decision);
}

/** Rules to check for commands without targets. Most commands have no targets, so a third of the rules is skipped. */
const RULES_WITHOUT_TARGETS = RULES.filter(({ onlyTargets }) => !onlyTargets);

function builtInRules(fact: CommandFact, policy: Policy, scene: RuleContext, findings: Finding[]): void {
  const harmless = onlyPrintsHelp(fact);
  for (const rule of fact.targets.length === 0 ? RULES_WITHOUT_TARGETS : RULES) {
    const span = harmless && rule.byName ? null : rule.find(fact, scene);
    if (!span) continue;
    const lifted = rule.tier === "deny" && policy.permits?.includes(rule.id);
    const { id, message, suggestion } = rule;
    const sentence = `This command ${message.charAt(0).toLowerCase()}${message.slice(1)}`;
    findings.push({ rule: id, message: sentence, span, suggestion, decision: lifted ? "ask" : rule.tier });
  }
}

function userRules(fact: CommandFact, policy: Policy, findings: Finding[]): void {
  for (const rule of policy.rules ?? []) {
    if (rule.decision === "allow" || !ruleMatches(rule, fact)) continue;
    const message =
      rule.message ??
      (rule.decision === "deny"
        ? "A rule in the configuration denies this command."
        : "A rule in the configuration requires approval for this command.");
    findings.push({
      rule: rule.id ?? "user-rule",
      message,
      span: fact.span,
      suggestion: null,
      decision: rule.decision,
    });
  }
}

function byMode(
  analysis: Analysis,
  policy: Policy,
  context: DecideContext,
  modes: EffectiveModes,
  findings: Finding[],
): void {
  const { miss } = modes;
  if (modes.security === "deny") {
    findings.push({
      rule: "security-deny",
      message: 'Commands are disabled: `security` is "deny".',
      span: null,
      suggestion: null,
      decision: "deny",
    });
  }
  if (modes.security === "allowlist") {
    for (const fact of analysis.commands) allowOrMiss(fact, analysis, policy, context, miss, findings);
    if (analysis.commands.length === 0)
      findings.push({
        rule: "nothing-to-run",
        message: "The text contains no command.",
        span: null,
        suggestion: null,
        decision: miss,
      });
  }
  if (!analysis.analyzable) {
    const confined = modes.security === "full" && context.confined;
    for (const { span, why, piped, over } of analysis.unknowns) {
      // Code from a pipe (`curl … | sh`) requires approval even in a sandbox, because it was never visible. So does
      // text that is too large to analyze, because it may contain a blocked command (invariant 3).
      const decision = confined && !piped && !over ? "allow" : miss;
      const message = `${why.charAt(0).toUpperCase()}${why.slice(1)}.`;
      findings.push({
        rule: "unanalyzable",
        message,
        span,
        suggestion: over ? SHORTEN : MAKE_LITERAL,
        decision,
      });
    }
  }
  if (modes.always) {
    findings.push({
      rule: "ask-always",
      message: 'Every command requires approval: `ask` is "always".',
      span: null,
      suggestion: null,
      decision: "ask",
    });
  }
}

function allowOrMiss(
  fact: CommandFact,
  analysis: Analysis,
  policy: Policy,
  context: DecideContext,
  miss: Decision,
  findings: Finding[],
): void {
  if (isImplicitlyAllowed(fact, analysis.commands) || isSafeBin(fact, policy.safeBins)) return;
  const entry = allowedBy(fact, policy.allowlist ?? [], { now: context.now, agent: context.agent ?? null });
  if (entry) {
    const message = entry.note ?? `The allowlist entry \`${entry.pattern}\` allows this command.`;
    findings.push({
      rule: `allowlist:${entry.pattern}`,
      message,
      span: fact.span,
      suggestion: null,
      decision: "allow",
    });
    return;
  }
  const rule = (policy.rules ?? []).find((one) => one.decision === "allow" && ruleMatches(one, fact));
  if (
    rule &&
    fact.unknowns.length === 0 &&
    fact.redirects.length === 0 &&
    fact.assignments.length === 0 &&
    fact.opaque === null
  ) {
    findings.push({
      rule: rule.id ?? "user-rule",
      message: rule.message ?? "A rule in the configuration allows this command.",
      span: fact.span,
      suggestion: null,
      decision: "allow",
    });
    return;
  }
  const { written, kind } = fact.executable;
  const what =
    written !== null ? `use of \`${written}\`` : kind === "keyword" ? "assignment or redirection" : "command";
  const message = `No allowlist entry matches this ${what}.`;
  findings.push({
    rule: "not-allowed",
    message,
    span: fact.span,
    suggestion: "Use a command that the allowlist allows, or ask the operator to add an entry.",
    decision: miss,
  });
}

/**
 * Sorts findings by severity and removes duplicates: a rule is reported once per span, and for a blocked span, only the
 * rules that block it are reported.
 */
function reasons(findings: Finding[]): Reason[] {
  if (findings.length === 0) return [];
  const seen = new Set<string>();
  const named = new Map<string, Decision>();
  return findings
    .toSorted((one, other) => rank(other.decision) - rank(one.decision))
    .filter(({ rule, span, message, decision }) => {
      const place = span ? `${span.start} ${span.end}` : rule;
      const worst = named.get(place);
      if (worst === undefined) named.set(place, decision);
      if (worst === "blocked" && decision !== "blocked") return false;
      const key = `${rule} ${place} ${rule === "unanalyzable" ? message : ""}`;
      return !seen.has(key) && seen.add(key);
    })
    .map(({ rule, message, span, suggestion, decision }, _, [first]) => ({
      rule,
      message,
      span,
      // The suggestion of a lesser reason does not lift the verdict. It could even read as a way around it.
      suggestion: decision === first?.decision ? suggestion : null,
    }));
}

/** Returns the settings that `decide` needs. */
export function policyOf({ security, ask, rules, allowlist, safeBins, allowDenied }: Settings): Policy {
  return { security, ask, rules, allowlist, safeBins, permits: allowDenied };
}
