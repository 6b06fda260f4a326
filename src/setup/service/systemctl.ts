/** Runs systemctl. */
import { spawnSync } from "node:child_process";
import { noSystemd, systemctlFailed } from "./errors.ts";
import type { Scope } from "./plan.ts";
import { type ServiceName, unitName } from "./unit.ts";

const TIMEOUT_MS = 120_000;

function systemctl(scope: Scope, args: readonly string[]) {
  const { status, stdout, stderr, error } = spawnSync(
    "systemctl",
    [...(scope === "user" ? ["--user"] : []), "--no-pager", ...args],
    { encoding: "utf8", timeout: TIMEOUT_MS },
  );
  const missing = (error as NodeJS.ErrnoException | undefined)?.code === "ENOENT";
  const why = missing ? "`systemctl` is not installed" : ((stderr?.trim() || error?.message) ?? "");
  return { ok: status === 0, stdout: stdout ?? "", why };
}

function orThrow(scope: Scope, args: readonly string[]): string {
  const { ok, stdout, why } = systemctl(scope, args);
  if (!ok) throw systemctlFailed(args, why);
  return stdout;
}

/** Returns the version of the running manager. Throws when there is none. */
export function managerVersion(scope: Scope): number {
  const { ok, stdout, why } = systemctl(scope, ["show", "--property=Version", "--value"]);
  if (!ok) throw noSystemd(scope, why.split("\n")[0] ?? "");
  return Number.parseInt(stdout, 10) || 0;
}

/** Returns the folders from which the running manager loads units. Empty when there is none. */
export function unitFolders(scope: Scope): string[] {
  const { ok, stdout } = systemctl(scope, ["show", "--property=UnitPath", "--value"]);
  return ok ? stdout.trim().split(/\s+/) : [];
}

/** Returns the version of the installed systemd, or null when there is none. */
export function installedVersion(): number | null {
  const { ok, stdout } = systemctl("system", ["--version"]);
  const [, version] = /^systemd (\d+)/.exec(ok ? stdout : "") ?? [];
  return version === undefined ? null : Number(version);
}

/** Enables the unit and starts it. If its text has changed, a running service is restarted. Returns when it is ready. */
export function enableAndStart(scope: Scope, service: ServiceName, isChanged: boolean): void {
  const unit = unitName(service);
  orThrow(scope, ["daemon-reload"]);
  orThrow(scope, ["enable", unit]);
  orThrow(scope, [isChanged ? "restart" : "start", unit]);
}

/** Stops the unit, if it runs, and disables it. */
export function stopAndDisable(scope: Scope, service: ServiceName): void {
  orThrow(scope, ["disable", "--now", unitName(service)]);
}

export function reload(scope: Scope): void {
  orThrow(scope, ["daemon-reload"]);
}

export interface UnitState {
  unit: string;
  /** The properties of systemd, such as `active`, `running`, `enabled`. */
  active: string;
  sub: string;
  enabled: string;
  pid: number | null;
  since: string | null;
  restarts: number;
}

export function unitState(scope: Scope, service: ServiceName): UnitState {
  managerVersion(scope);
  const unit = unitName(service);
  const names = ["ActiveState", "SubState", "UnitFileState", "MainPID", "ActiveEnterTimestamp", "NRestarts"];
  const text = orThrow(scope, ["show", unit, `--property=${names.join(",")}`]);
  const values = Object.fromEntries(
    text
      .trim()
      .split("\n")
      .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
  );
  return {
    unit,
    active: values.ActiveState ?? "unknown",
    sub: values.SubState ?? "unknown",
    enabled: values.UnitFileState || "not installed",
    pid: Number(values.MainPID) || null,
    since: values.ActiveEnterTimestamp || null,
    restarts: Number(values.NRestarts) || 0,
  };
}
