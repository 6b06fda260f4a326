import { existsSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { callerEnv, callerHome } from "../core/caller.ts";
import { agentFilter, isSameName } from "../core/names.ts";
import type { Settings } from "../core/settings.ts";
import { DEFAULTS } from "../core/settings.ts";
import { loadPolicy } from "../policy/load.ts";
import { RULES } from "../policy/rules/index.ts";
import { isWithin } from "../sandbox/workspace.ts";
import { nearest } from "../text/nearest.ts";
import { configError, keyPath, schemaError } from "./errors.ts";
import { type Ignored, override, tighten } from "./merge.ts";
import { type ConfigText, readOperatorFile, readWorkspaceFile } from "./read.ts";
import type { AgentConfig } from "./schema.ts";
import { type ConfigFile, configFile } from "./schema.ts";

export const CONFIG_NAME = "sallyport.json";

export interface LoadOptions {
  workspace: string;
  /**
   * Path of the operator file (default: `$XDG_CONFIG_HOME/sallyport/sallyport.json`, with `~/.config` when that variable
   * is not set). Null to read none.
   */
  operatorPath?: string | null;
  env?: NodeJS.ProcessEnv;
  /** Configuration from the program that embeds Sallyport. It is trusted like the operator file and overrides it. */
  given?: ConfigFile;
}

export interface LoadedConfig {
  /** Settings of agents that have no settings of their own. */
  settings: Settings;
  /** Returns the settings of this agent, the same object each time. */
  forAgent(agent: string): Settings;
  /** Files that were read, for the audit log. */
  files: { path: string; kind: "operator" | "workspace"; sha256: string }[];
  /** Values of the workspace file that were ignored. */
  ignored: Ignored[];
  warnings: string[];
}

export function operatorConfigPath(env: NodeJS.ProcessEnv = callerEnv()): string {
  const home = env.XDG_CONFIG_HOME;
  // The XDG specification says to ignore a relative path. It would also be resolved inside the workspace.
  const base = home?.startsWith("/") ? home : join(env.HOME || callerHome(), ".config");
  return join(base, "sallyport", CONFIG_NAME);
}

/** Reads the operator and workspace files and merges them. Throws `InvalidConfiguration`. */
export function loadConfig(options: LoadOptions): LoadedConfig {
  const env = options.env ?? callerEnv();
  const operatorPath = options.operatorPath === undefined ? operatorConfigPath(env) : options.operatorPath;
  const root = realpath(options.workspace);
  const operator = operatorPath === null ? null : readOperatorFile(operatorPath);
  const workspace = readWorkspaceFile(join(root, CONFIG_NAME), root);
  const operatorConfig = operator ? parseFile(operator, "operator") : {};
  const programConfig =
    options.given && Object.keys(options.given).length > 0 ? parseFile(givenConfig(options.given), "operator") : {};
  const workspaceConfig = workspace ? parseFile(workspace, "workspace") : {};

  const start: Settings = { ...DEFAULTS, toolsets: { ...DEFAULTS.toolsets, exec: isTruthy(env.ENABLE_EXECUTE) } };
  const trusted = [operatorConfig, programConfig];
  const settingsOf = (agent: string | null, ignored: Ignored[]): Settings => {
    let settings = trusted.reduce(override, start);
    if (agent !== null) for (const file of trusted) settings = override(settings, agentConfigOf(file, agent));
    settings = tighten(settings, workspaceConfig, ignored);
    return agent === null ? settings : tighten(settings, agentConfigOf(workspaceConfig, agent), ignored);
  };

  const ignored: Ignored[] = [];
  const settings = settingsOf(null, ignored);
  const named = new Map<string, Settings>();
  for (const agent of new Set([...trusted, workspaceConfig].flatMap(({ agents }) => Object.keys(agents ?? {})))) {
    const notes: Ignored[] = [];
    named.set(agentFilter(agent), settingsOf(agent, notes));
    const seen = new Set(ignored.map(({ key }) => key));
    ignored.push(
      ...notes.filter(({ key }) => !seen.has(key)).map(({ key, why }) => ({ key: `agents.${agent}.${key}`, why })),
    );
  }
  return {
    settings,
    forAgent: (agent) => named.get(agentFilter(agent)) ?? settings,
    files: [fileEntry(operator, "operator"), fileEntry(workspace, "workspace")].flatMap((file) => file ?? []),
    ignored,
    warnings: operatorPath === null ? [] : operatorFileWarnings(operatorPath, root),
  };
}

function agentConfigOf(file: ConfigFile, agent: string) {
  const name = Object.keys(file.agents ?? {}).find((each) => isSameName(each, agent));
  return name === undefined ? undefined : file.agents?.[name];
}

function realpath(folder: string): string {
  try {
    return realpathSync.native(folder);
  } catch {
    return resolve(folder);
  }
}

/** Wraps configuration given as a value, so that it is validated like a file. */
function givenConfig(given: unknown): ConfigText {
  return { path: "The `policy` option", document: { value: given, positionOf: () => undefined }, sha256: "" };
}

function parseFile(text: ConfigText, kind: "operator" | "workspace"): ConfigFile {
  const parsed = configFile().safeParse(text.document.value);
  if (!parsed.success) throw schemaError(text.path, text.document, parsed.error.issues, configFile());
  checkConfig(text, parsed.data, kind);
  return parsed.data;
}

function fileEntry(text: ConfigText | null, kind: "operator" | "workspace") {
  return text && { path: text.path, kind, sha256: text.sha256 };
}

/** Returns a warning if the operator file is inside the workspace, where commands could change it. */
function operatorFileWarnings(path: string, root: string): string[] {
  const folder = existsSync(dirname(path)) ? realpath(dirname(path)) : dirname(path);
  if (!isWithin(folder, root)) return [];
  return [
    `The operator configuration \`${path}\` is inside the workspace, where commands may be able to change it. Use a workspace that does not contain it.`,
  ];
}

function isTruthy(value: string | undefined): boolean {
  return /^(?:1|true|yes|on)$/i.test(value?.trim() ?? "");
}

/**
 * An agent that can approve its own requests bypasses every approval (invariant 7), so this denial cannot be lifted.
 */
const NEVER_LIFTED = "self-approval";
const LIFTABLE = RULES.filter(({ tier, id }) => tier === "deny" && id !== NEVER_LIFTED).map(({ id }) => id);

/** Checks what the schema cannot express: rules pass their own examples, names exist, and the quorum can be met. */
function checkConfig(text: ConfigText, file: ConfigFile, kind: "operator" | "workspace"): void {
  checkPart(text, file, []);
  for (const [agent, own] of Object.entries(file.agents ?? {})) checkPart(text, own, ["agents", agent]);
  const agents = Object.keys(file.agents ?? {});
  const twice = agents.find((name, index) => agents.findIndex((each) => isSameName(each, name)) < index);
  if (twice !== undefined) failCheck(text, ["agents", twice], "is the same name as another one: case is ignored");
  const { rule = "any", approvers = [] } = file.approvals?.quorum ?? {};
  if (kind === "operator" && rule !== "any" && approvers.length === 0) {
    failCheck(
      text,
      ["approvals", "quorum", "rule"],
      `is "${rule}", which requires a list of names in \`approvals.quorum.approvers\``,
    );
  }
  if (new Set(approvers.map((name) => name.toLowerCase())).size < approvers.length) {
    failCheck(text, ["approvals", "quorum", "approvers"], "contains the same name twice");
  }
}

function checkPart(text: ConfigText, part: AgentConfig, at: string[]): void {
  const source = at.length > 0 ? `${text.path}: \`${keyPath(at)}\`` : text.path;
  loadPolicy({ rules: part.rules, allowlist: part.allowlist }, source);
  for (const [index, id] of (part.allowDenied ?? []).entries()) {
    if (LIFTABLE.includes(id)) continue;
    const hard = RULES.some((rule) => rule.id === id);
    const near = nearest(id, LIFTABLE);
    const instead = near ? `did you mean "${near}"?` : `the allowed values are ${LIFTABLE.join(", ")}`;
    const why = hard ? `the rule "${id}" cannot be overridden` : `unknown rule "${id}"; ${instead}`;
    failCheck(text, [...at, "allowDenied", index], `: ${why}`);
  }
}

function failCheck(text: ConfigText, path: PropertyKey[], why: string): never {
  const key = keyPath(path);
  const message = `\`${key}\`${why.startsWith(":") ? "" : " "}${why}${why.endsWith("?") ? "" : "."}`;
  throw configError(text.path, message, text.document.positionOf(path), key);
}
