/** Validates the policy of a configuration. A rule that fails its own examples is an error. */
import { SallyportError } from "../core/error.ts";
import { operatorStep } from "../core/next-step.ts";
import type { AllowEntry, Policy, UserRule } from "../core/policy.ts";
import { inspect } from "../shell/inspect.ts";
import { RULES } from "./rules/index.ts";
import { ruleMatches } from "./user-rules.ts";

/** Returns the policy unchanged, or throws `InvalidConfiguration` with the key and the problem. */
export function loadPolicy(policy: Policy, source = "policy"): Policy {
  oneOf(source, "security", policy.security, ["deny", "allowlist", "full"]);
  oneOf(source, "ask", policy.ask, ["off", "on-miss", "always"]);
  for (const [agent, modes] of Object.entries(policy.agents ?? {})) {
    oneOf(source, `agents.${agent}.security`, modes.security, ["deny", "allowlist", "full"]);
    oneOf(source, `agents.${agent}.ask`, modes.ask, ["off", "on-miss", "always"]);
  }
  for (const [index, entry] of (policy.allowlist ?? []).entries())
    checkEntry(`${source}: \`allowlist[${index}]\``, entry);
  for (const [index, rule] of (policy.rules ?? []).entries()) checkRule(`${source}: \`rules[${index}]\``, rule);
  for (const [index, id] of (policy.permits ?? []).entries()) checkPermit(`${source}: \`permits[${index}]\``, id);
  return policy;
}

/** Returns a policy without the parts that allow commands, for workspace files, which are less trusted. */
export function tighteningOnly(policy: Policy): Policy {
  return {
    ...policy,
    allowlist: [],
    permits: [],
    rules: (policy.rules ?? []).filter((rule) => rule.decision !== "allow"),
  };
}

function checkEntry(at: string, entry: AllowEntry): void {
  const patterns = [entry.pattern, ...(entry.args === undefined || entry.args === "" ? [] : [entry.args])];
  for (const pattern of patterns) {
    const problem = typeof pattern === "string" ? patternProblem(pattern) : "is missing";
    if (problem) invalid(`${at}: the pattern \`${pattern}\` ${problem}.`);
  }
  if (/^\*+$/.test(entry.pattern))
    invalid(
      `${at}: the pattern \`${entry.pattern}\` allows every program; to allow every program, set \`security\` to "full".`,
    );
  if (entry.expires !== undefined && Number.isNaN(Date.parse(entry.expires)))
    invalid(`${at}: \`expires\` must be a time in ISO 8601 format; received \`${entry.expires}\`.`);
  if (entry.cwd !== undefined && !entry.cwd.startsWith("/"))
    invalid(`${at}: \`cwd\` must be an absolute path; received \`${entry.cwd}\`.`);
}

/** Returns the problem with a pattern, or null. */
function patternProblem(pattern: string): string | null {
  if (pattern.trim() === "") return "is empty";
  if (/^\/.*\/[a-z]*$/.test(pattern) && /[\\^$+()|[\]{}]/.test(pattern))
    return "looks like a regular expression; patterns support only `*` and `?`";
  if (pattern.length > 1000) return "is longer than 1000 characters";
  return null;
}

function checkRule(at: string, rule: UserRule): void {
  const name = rule.id ? `${at} (${rule.id})` : at;
  if (!["allow", "ask", "deny"].includes(rule.decision))
    invalid(`${name}: \`decision\` must be one of allow, ask, deny; received \`${rule.decision}\`.`);
  if ((rule.prefix === undefined) === (rule.pattern === undefined))
    invalid(`${name}: set either \`prefix\` or \`pattern\`, but not both.`);
  if (rule.prefix?.length === 0) invalid(`${name}: \`prefix\` must not be empty.`);
  const problem = rule.pattern === undefined ? null : patternProblem(rule.pattern);
  if (problem) invalid(`${name}: the pattern \`${rule.pattern}\` ${problem}.`);
  for (const example of rule.match ?? []) {
    if (!catches(rule, example)) invalid(`${name}: the example \`${example}\` in \`match\` does not match the rule.`);
  }
  for (const example of rule.not_match ?? []) {
    if (catches(rule, example)) invalid(`${name}: the example \`${example}\` in \`not_match\` matches the rule.`);
  }
}

function checkPermit(at: string, id: string): void {
  const rule = RULES.find((one) => one.id === id);
  if (!rule) invalid(`${at}: unknown rule \`${id}\`.`);
  else if (rule.tier === "blocked") invalid(`${at}: the rule \`${id}\` cannot be overridden.`);
}

const EXAMPLE_WORLD = {
  cwd: "/workspace",
  home: "/home/user",
  workspace: "/workspace",
  lookup: { which: () => null, realpath: () => null },
};

function catches(rule: UserRule, text: string): boolean {
  return inspect(text, EXAMPLE_WORLD).commands.some((fact) => ruleMatches(rule, fact));
}

function oneOf(source: string, key: string, value: string | undefined, allowed: readonly string[]): void {
  if (value !== undefined && !allowed.includes(value)) {
    invalid(`${source}: \`${key}\` must be one of ${allowed.join(", ")}; received \`${value}\`.`);
  }
}

function invalid(message: string): never {
  throw new SallyportError("InvalidConfiguration", message, [
    operatorStep("fix_configuration", "Correct the key. `sallyport check -- COMMAND` shows the verdict for a command."),
  ]);
}
