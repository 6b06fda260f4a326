/** Checks a policy as it comes from a configuration. A rule that fails its own example stops the start. */
import { SallyportError } from "../core/error.ts";
import type { AllowEntry, Policy, UserRule } from "../core/policy.ts";
import { inspect } from "../shell/inspect.ts";
import { RULES } from "./rules/index.ts";
import { ruleMatches } from "./user-rules.ts";

/** Returns the policy unchanged, or throws InvalidConfiguration naming the key and what is wrong with it. */
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

/** A workspace's file is less trusted: of its policy only what tightens is taken. */
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
    invalid(`${at}: the pattern \`${entry.pattern}\` allows every program; use security "full" if that is meant.`);
  if (entry.expires !== undefined && Number.isNaN(Date.parse(entry.expires)))
    invalid(`${at}: \`expires\` is no time: \`${entry.expires}\`.`);
  if (entry.cwd !== undefined && !entry.cwd.startsWith("/"))
    invalid(`${at}: \`cwd\` must be an absolute path, not \`${entry.cwd}\`.`);
}

/** Why a pattern is not usable, or null. */
function patternProblem(pattern: string): string | null {
  if (pattern.trim() === "") return "is empty";
  if (/^\/.*\/[a-z]*$/.test(pattern) && /[\\^$+()|[\]{}]/.test(pattern))
    return "looks like a regular expression; only `*` and `?` are understood";
  if (pattern.length > 1000) return "is longer than 1000 characters";
  return null;
}

function checkRule(at: string, rule: UserRule): void {
  const name = rule.id ? `${at} (${rule.id})` : at;
  if (!["allow", "ask", "deny"].includes(rule.decision))
    invalid(`${name}: \`decision\` must be allow, ask or deny, not \`${rule.decision}\`.`);
  if ((rule.prefix === undefined) === (rule.pattern === undefined))
    invalid(`${name}: give either \`prefix\` or \`pattern\`.`);
  if (rule.prefix?.length === 0) invalid(`${name}: \`prefix\` is empty.`);
  const problem = rule.pattern === undefined ? null : patternProblem(rule.pattern);
  if (problem) invalid(`${name}: the pattern \`${rule.pattern}\` ${problem}.`);
  for (const example of rule.match ?? []) {
    if (!catches(rule, example)) invalid(`${name}: its example \`${example}\` in \`match\` does not match.`);
  }
  for (const example of rule.not_match ?? []) {
    if (catches(rule, example)) invalid(`${name}: its example \`${example}\` in \`not_match\` matches.`);
  }
}

function checkPermit(at: string, id: string): void {
  const rule = RULES.find((one) => one.id === id);
  if (!rule) invalid(`${at}: there is no rule \`${id}\`.`);
  else if (rule.tier === "blocked") invalid(`${at}: the rule \`${id}\` is a hard block and cannot be lifted.`);
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
    invalid(`${source}: \`${key}\` must be one of ${allowed.join(", ")}, not \`${value}\`.`);
  }
}

function invalid(message: string): never {
  throw new SallyportError("InvalidConfiguration", message, [
    {
      action: "fix_configuration",
      hint: "Correct the named key; `sallyport check -- COMMAND` shows how a command is judged.",
    },
  ]);
}
