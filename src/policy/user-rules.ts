/** Matches rules from the configuration. */
import type { CommandFact } from "../core/facts.ts";
import type { UserRule } from "../core/policy.ts";
import { matchesGlob, matchesGlobs } from "../text/glob.ts";

export function ruleMatches(rule: UserRule, fact: CommandFact): boolean {
  const [first, ...rest] = fact.argv;
  if (!first || fact.executable.name === null) return false;
  const tail = rest.map((word) => word.value);
  // For rules that deny or ask, `/usr/bin/git` also matches as `git`. For rules that allow, it does not.
  const heads =
    rule.decision === "allow" ? [fact.executable.written ?? ""] : [fact.executable.written ?? "", fact.executable.name];
  return heads.some((head) => wordsMatch(rule, [head, ...tail]));
}

function wordsMatch(rule: UserRule, words: (string | null)[]): boolean {
  if (rule.prefix) return prefixMatches(rule, words);
  if (rule.pattern === undefined) return false;
  const patterns = rule.pattern.split(/\s+/).filter(Boolean);
  if (words.some((word) => word === null)) {
    // An unknown argument could be anything, so it matches rules that deny or ask, but not rules that allow.
    return rule.decision !== "allow" && matchesGlobs(patterns.slice(0, 1), words.slice(0, 1) as string[], matchesGlob);
  }
  return matchesGlobs(patterns, words as string[], matchesGlob);
}

function prefixMatches(rule: UserRule, words: (string | null)[]): boolean {
  const wanted = rule.prefix ?? [];
  if (wanted.length === 0 || words.length < wanted.length) return false;
  return wanted.every((want, index) => {
    const word = words[index];
    if (word === null || word === undefined) return rule.decision !== "allow";
    return typeof want === "string" ? want === word : want.includes(word);
  });
}
