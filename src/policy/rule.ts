/** A rule over facts: plain data, one function, and its own examples, which a test runs. */
import type { CommandFact, Span } from "../core/facts.ts";
import { basename } from "../shell/path.ts";

export interface Rule {
  /** Stable; shown to people and programs, and named in `permits`. */
  id: string;
  /** `blocked` is lifted by nothing (promise 3); `deny` by a person who names the rule in the configuration. */
  tier: "blocked" | "deny";
  /** For a person: what is wrong. */
  message: string;
  /** A safe way to get what was probably wanted. */
  suggestion: string;
  /** It looks at `targets` and at nothing else: a command without any is none of its business. */
  onlyTargets?: true;
  /** Which part of the command is the matter; null: none. */
  find(fact: CommandFact, scene: RuleContext): Span | null;
  catches: readonly string[];
  passes: readonly string[];
}

/** The world the rules judge in. */
export interface RuleContext {
  workspace: string;
  home: string;
  /** Every command of the text, for rules about what runs side by side. */
  commands: readonly CommandFact[];
}

/** Programs that answer to many names: theirs says nothing about what is run. */
const MULTICALL =
  /^(?:busybox|toybox|coreutils|uutils|systemctl|snap|env|sh|bash|dash|python[\d.]*|node|killall5|pkill|pgrep|kmod|lvm|tune2fs|sudo-rs)$/;

/** Every rule asks these of every command; the answers are kept with the fact they are about. */
const knownNames = new WeakMap<CommandFact, readonly string[]>();
const knownValues = new WeakMap<CommandFact, readonly string[]>();

/** The names a command answers to: as written, and what a link of that name leads to. */
export function names(fact: CommandFact): readonly string[] {
  const known = knownNames.get(fact);
  if (known) return known;
  const { name, resolved } = fact.executable;
  const real = resolved === null ? name : basename(resolved);
  const found = name === null ? [] : real === null || real === name || MULTICALL.test(real) ? [name] : [name, real];
  knownNames.set(fact, found);
  return found;
}

export function isNamed(fact: CommandFact, wanted: ReadonlySet<string>): boolean {
  return names(fact).some((name) => wanted.has(name));
}

export function isCommand(fact: CommandFact, wanted: string): boolean {
  return names(fact).includes(wanted);
}

export function argumentValues(fact: CommandFact): readonly string[] {
  const known = knownValues.get(fact);
  if (known) return known;
  const found = fact.argv.slice(1).map((word) => word.value ?? word.likely ?? word.prefix);
  knownValues.set(fact, found);
  return found;
}

/** Words that are neither options nor the name; the first is a subcommand in commands that have them. */
export function operands(fact: CommandFact): string[] {
  return argumentValues(fact).filter((value) => !value.startsWith("-"));
}

export function nameSpan(fact: CommandFact): Span {
  return fact.argv[0]?.span ?? fact.span;
}

/** Names that are the matter whatever their arguments, others only with certain ones. */
export function nameSet(list: string): Set<string> {
  return new Set(list.split(/\s+/).filter(Boolean));
}
