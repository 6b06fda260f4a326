/** Rules of the people who run Sallyport, checked against their own examples before they count. */
import type { CommandFact } from "../core/facts.ts";
import type { UserRule } from "../core/policy.ts";
import { matchesGlob, matchesGlobs } from "../text/glob.ts";

export function ruleMatches(rule: UserRule, fact: CommandFact): boolean {
  const [first, ...rest] = fact.argv;
  if (!first || fact.executable.name === null) return false;
  const tail = rest.map((word) => word.value);
  // A path to a program counts as its name when that forbids, not when it allows.
  const heads =
    rule.decision === "allow" ? [fact.executable.written ?? ""] : [fact.executable.written ?? "", fact.executable.name];
  return heads.some((head) => wordsMatch(rule, [head, ...tail]));
}

function wordsMatch(rule: UserRule, words: (string | null)[]): boolean {
  if (rule.prefix) return prefixMatches(rule, words);
  if (rule.pattern === undefined) return false;
  const patterns = rule.pattern.split(/\s+/).filter(Boolean);
  if (words.some((word) => word === null)) {
    // An unknown word may be anything: that is a match for a rule that forbids, none for one that allows.
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
