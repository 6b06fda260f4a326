/** Plans which unit is written or removed; nothing is written before the plan is complete. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { assertWritable, type FileText, readText, removeFolders, writeText } from "../files.ts";
import { ownScript } from "../server-command.ts";
import { editedUnit, foreignUnit, unknownAccount } from "./errors.ts";
import { originOf, type ServiceName, servicePath, unitName, unitText } from "./unit.ts";

export const UNIT_SCOPES = ["user", "system"] as const;
export type Scope = (typeof UNIT_SCOPES)[number];

/** The account that the service runs as. */
export interface Account {
  name: string;
  home: string;
  /** Whether it is the account of this process. */
  isOwn: boolean;
}

export interface ServiceRequest {
  service: ServiceName;
  scope: Scope;
  account: Account;
  /** The folder in which the service starts. */
  folder: string;
  /** The arguments of `sallyport`, without those that name the state folder. */
  args: readonly string[];
  state: string;
  /** The folder of configurations of all programs, as in XDG_CONFIG_HOME. */
  config: string;
  /** The URL that answers when the service is ready. Null when there is none. */
  url: string | null;
  /** The major version of systemd. */
  version: number;
}

export interface UnitPlan extends FileText {
  unit: string;
  service: ServiceName;
  scope: Scope;
  /** The new text. Null when the file is removed. */
  after: string | null;
}

/** Returns the account of another user. */
export function accountOf(name: string): Account {
  const rows = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .map((line) => line.split(":"));
  const row = rows.find(([user]) => user === name);
  if (!row?.[0] || !row[5]) throw unknownAccount(name);
  return { name: row[0], home: row[5], isOwn: false };
}

/**
 * Returns the path of the unit. `loaded` are the folders from which the manager loads units, if it runs: its environment
 * may name another folder of configurations than that of this process.
 */
export function unitPath(service: ServiceName, scope: Scope, config: string, home: string, loaded: string[]): string {
  if (scope === "system") return join("/etc/systemd/system", unitName(service));
  const own = join(config, "systemd/user");
  const folder = loaded.length === 0 || loaded.includes(own) ? own : join(home, ".config/systemd/user");
  return join(folder, unitName(service));
}

export function renderUnit(request: ServiceRequest): string {
  const { service, scope, account, folder, args, state, config, url, version } = request;
  const program = [process.execPath, ownScript()];
  const hasDefaultConfig = config === join(account.home, ".config");
  return unitText({
    service,
    scope,
    user: account.name,
    folder,
    command: [...program, ...args, "--state", state],
    ready: url === null ? null : [...program, "service", "ready", url, "--wait", "280s"],
    env: {
      PATH: servicePath(process.execPath, account.home),
      ...(hasDefaultConfig ? {} : { XDG_CONFIG_HOME: config }),
    },
    // Systemd reads the file of a system unit as root, so it must not be in a folder that another user can change.
    environmentFile: scope === "system" ? `/etc/sallyport/${service}.env` : join(config, `sallyport/${service}.env`),
    version,
  });
}

export function planInstall(request: ServiceRequest, path: string, discardsEdits: boolean): UnitPlan {
  const { service, scope } = request;
  const current = readUnit(path, service, discardsEdits);
  return { ...current, unit: unitName(service), service, scope, after: renderUnit(request) };
}

export function planUninstall(service: ServiceName, scope: Scope, path: string, discardsEdits: boolean): UnitPlan {
  const current = readUnit(path, service, discardsEdits);
  return { ...current, unit: unitName(service), service, scope, after: null };
}

/** Reads the unit. Throws when it is not ours to replace. */
function readUnit(path: string, service: ServiceName, discardsEdits: boolean): FileText {
  const file = readText(path, null);
  const origin = file.text === null ? "ours" : originOf(file.text);
  if (origin === "foreign") throw foreignUnit(path);
  if (origin === "edited" && !discardsEdits) throw editedUnit(path, unitName(service));
  return file;
}

/** Units contain no secrets, and systemd warns about those that only their owner can read. */
const UNIT_MODE = 0o644;

export function writeUnit(plan: UnitPlan): void {
  assertWritable(plan);
  writeText(plan, plan.after, UNIT_MODE);
}

/** Removes the folders of user units that are empty now. */
export function removeEmptyFolders({ scope, path }: UnitPlan): void {
  if (scope === "user") removeFolders([join(path, ".."), join(path, "../..")]);
}
