/** A built-in rule: plain data, one function, and examples that a test runs. */
import type { CommandFact, Span } from "../core/facts.ts";
import { basename } from "../shell/path.ts";

export interface Rule {
  /** Stable identifier, shown in messages and used in the setting `allowDenied`. */
  id: string;
  /**
   * `blocked` cannot be overridden (invariant 3). The operator can turn `deny` into `ask` by naming the rule in the
   * configuration.
   */
  tier: "blocked" | "deny";
  /** What a matching command does. Starts with a verb in the third person, of which the command is the subject. */
  message: string;
  /** A safe alternative, in the imperative. */
  suggestion: string;
  /** The rule only checks `targets`, so commands without targets need not be checked. */
  onlyTargets?: true;
  /**
   * The rule judges programs by their names and arguments, so it does not apply to a program that only prints its help
   * or version.
   */
  byName?: true;
  /** Returns the offending part of the command, or null when the rule does not match. */
  find(fact: CommandFact, scene: RuleContext): Span | null;
  catches: readonly string[];
  passes: readonly string[];
}

/** The context in which rules are evaluated. */
export interface RuleContext {
  workspace: string;
  home: string;
  /** All commands of the text, for rules about commands that run at the same time. */
  commands: readonly CommandFact[];
}

/** Programs that run under many names. For links to them, only the name as written identifies the command. */
const MULTICALL =
  /^(?:busybox|toybox|coreutils|uutils|systemctl|snap|env|sh|bash|dash|python[\d.]*|node|killall5|pkill|pgrep|kmod|lvm|tune2fs|sudo-rs)$/;

/** Caches of `names` and `argumentValues`, which every rule calls for every command. */
const knownNames = new WeakMap<CommandFact, readonly string[]>();
const knownValues = new WeakMap<CommandFact, readonly string[]>();

/** Returns the names of a command: as written, and the name of the program that a link with that name points to. */
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

/** Returns the arguments that are not options. For commands with subcommands, the first one is the subcommand. */
export function operands(fact: CommandFact): string[] {
  return argumentValues(fact).filter((value) => !value.startsWith("-"));
}

export function nameSpan(fact: CommandFact): Span {
  return fact.argv[0]?.span ?? fact.span;
}

/** Splits a space-separated list of names into a set. */
export function nameSet(list: string): Set<string> {
  return new Set(list.split(/\s+/).filter(Boolean));
}

const PRINTS_HELP = /^(?:--help|--version|--usage|-V|-\?|--list-shells)$/;
/** For these programs, `-h` means halt, a disk mode, a host or a phone number. For all others, it means help. */
const USES_H = nameSet("shutdown halt reboot poweroff login chfn telinit rlogin");

/** Reports whether the command only prints its help or its version. */
export function onlyPrintsHelp(fact: CommandFact): boolean {
  const given = argumentValues(fact);
  if (given.length === 0 || given.length > 2) return false;
  const shortHelp = !isNamed(fact, USES_H);
  return given.every((word) => PRINTS_HELP.test(word) || (shortHelp && word === "-h"));
}
