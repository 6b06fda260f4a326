import { SallyportError } from "../core/error.ts";
import { compileGlob } from "../text/glob.ts";
import { HARMLESS_NAMES, HARMLESS_VALUES, NAME_GROUPS, type NameGroup, PROTECTED_NAMES } from "./environment-table.ts";

export type Environment = Record<string, string>;

/** The operator's say about names: `pass` lets through, `block` keeps out and wins. `*` stands for anything. */
export interface EnvironmentRules {
  pass: readonly string[];
  block: readonly string[];
}

const GROUPS = NAME_GROUPS.map((group) => ({
  group,
  names: nameMatcher(group.names, { ignoreCase: group.id === "secret" }),
}));
const PROTECTED = nameMatcher(PROTECTED_NAMES);
/** npm reads its settings in upper and lower case, with dashes as well as underscores. */
const NPM = /^npm_config_/i;
/** A password within an address, as in postgres://me:secret@host. */
const URL_WITH_PASSWORD = /[a-z][a-z0-9+.-]*:\/\/[^\s/@:]*:[^\s/@]+@/i;

interface NameMatcher {
  has(name: string): boolean;
  /** Ignores the patterns: only names that are listed without a wildcard. */
  hasExactly(name: string): boolean;
}

/** Variable names in which `*` stands for any text; exact names are looked up in a set. */
function nameMatcher(patterns: readonly string[], { ignoreCase = false } = {}): NameMatcher {
  const fold = (name: string) => (ignoreCase ? name.toUpperCase() : name);
  const exact = new Set(patterns.filter((pattern) => !pattern.includes("*")).map(fold));
  const wild = patterns
    .filter((pattern) => pattern.includes("*"))
    .map((pattern) => compileGlob(fold(pattern), { questionMark: false }));
  return {
    has: (name) => {
      const folded = fold(name);
      return exact.has(folded) || wild.some((matches) => matches(folded));
    },
    hasExactly: (name) => exact.has(fold(name)),
  };
}

/** The group a name belongs to; null for an ordinary variable. */
function groupOf(name: string): NameGroup | null {
  if (HARMLESS_NAMES.has(name)) return null;
  const read = asRead(name);
  return GROUPS.find(({ names }) => names.has(read))?.group ?? null;
}

/** npm's settings have many spellings. */
function asRead(name: string): string {
  return NPM.test(name) ? name.toLowerCase().replaceAll("-", "_") : name;
}

interface Judge {
  /** Why a variable is not inherited; null: it is. */
  drops(name: string, value: string): string | null;
  /** Why a caller may not give it; null: fine. */
  refuses(name: string, value: string): string | null;
}

function judge(rules: EnvironmentRules): Judge {
  const pass = nameMatcher(rules.pass);
  const block = nameMatcher(rules.block);
  const passes = (name: string, how: NameGroup["pass"]) =>
    how !== "never" &&
    [name, asRead(name)].some((each) => (how === "by-name" ? pass.hasExactly(each) : pass.has(each)));
  return {
    drops(name, value) {
      if (block.has(name)) return "is blocked in the configuration";
      const group = groupOf(name);
      if (group) return group.inherited === "dropped" && !passes(name, group.pass) ? group.why : null;
      return URL_WITH_PASSWORD.test(value) && !pass.has(name) ? "holds a password in an address" : null;
    },
    refuses(name, value) {
      if (block.has(name)) return "is blocked in the configuration";
      if (PROTECTED.has(name) && (name.startsWith("SALLYPORT_") || !pass.hasExactly(name))) {
        return "is set by the system and cannot be overridden";
      }
      const group = groupOf(name);
      if (!group || group.given === "allowed" || passes(name, group.pass)) return null;
      return group.given === "harmless-only" && HARMLESS_VALUES.has(value) ? null : group.why;
    },
  };
}

interface Prepared {
  judge: Judge;
  inherited: Environment;
}

/** One per parent and rules, both of which stay as they are: a changed configuration brings new rules. */
const prepared = new WeakMap<EnvironmentRules, WeakMap<Readonly<Environment>, Prepared>>();

function prepare(parent: Readonly<Environment>, rules: EnvironmentRules): Prepared {
  let ofRules = prepared.get(rules);
  if (!ofRules) {
    ofRules = new WeakMap();
    prepared.set(rules, ofRules);
  }
  let ready = ofRules.get(parent);
  if (!ready) {
    const judged = judge(rules);
    const kept = Object.entries(parent).filter(([name, value]) => judged.drops(name, value) === null);
    ready = { judge: judged, inherited: Object.fromEntries(kept) };
    ofRules.set(parent, ready);
  }
  return ready;
}

/**
 * The environment a command gets: the parent's without secrets, loader hooks and doors to other powers, and on top of
 * it what the caller gave. With nothing given the very same object comes back each time: the executor encodes it once.
 */
export function sanitizeEnvironment(
  parent: Readonly<Environment>,
  given: Readonly<Environment> | undefined,
  rules: EnvironmentRules,
): Environment {
  const { judge, inherited } = prepare(parent, rules);
  if (!given) return inherited;
  const names = Object.keys(given);
  if (names.length === 0) return inherited;
  for (const name of names) {
    const why = judge.refuses(name, given[name] ?? "");
    if (why) throw refused(name, why);
  }
  const env = { ...inherited, ...given };
  return given.PATH === undefined ? env : withFixedPath(env);
}

const USUAL_PATH = "/usr/local/bin:/usr/bin:/bin";

/**
 * An empty or relative entry, or no PATH at all, leads bash to the working directory: a file that an agent put there
 * would run in place of the program that was judged.
 */
export function withFixedPath(env: Readonly<Environment>): Environment {
  const entries = (env.PATH ?? "").split(":").filter((entry) => entry.startsWith("/"));
  return { ...env, PATH: entries.join(":") || USUAL_PATH };
}

/** What of the parent's environment a command does not get, and why. For `sallyport doctor` and the curious. */
export function droppedVariables(
  parent: Readonly<Environment>,
  rules: EnvironmentRules,
): { name: string; why: string }[] {
  const { judge } = prepare(parent, rules);
  return Object.entries(parent).flatMap(([name, value]) => {
    const why = judge.drops(name, value);
    return why ? [{ name, why }] : [];
  });
}

function refused(name: string, why: string): SallyportError {
  return new SallyportError(
    "InvalidRequest",
    `\`env.${name}\` is not allowed: it ${why}.`,
    [
      { action: "remove_variable", hint: `Leave \`${name}\` out of \`env\`.` },
      {
        action: "ask_operator",
        hint: `The operator can allow it: \`env.pass\` in sallyport.json (docs/environment.md).`,
      },
    ],
    { name },
  );
}
