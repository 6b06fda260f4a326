/** Checks the options of `service install`, and those that it passes to the service. */
import { homedir, userInfo } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { SallyportError } from "../../../core/error.ts";
import { needsFleet } from "../../../fleet/errors.ts";
import type { Account, Scope, ServiceRequest } from "../../../setup/service/plan.ts";
import type { ServiceName } from "../../../setup/service/unit.ts";
import { defaultState } from "../../../storage/state-folder.ts";
import { type Invocation, UsageError } from "../../command.ts";
import { textOption } from "../../options.ts";
import { parseCommand } from "../../parse.ts";

export function scopeOf({ values }: Invocation): Scope {
  if (values.user && values.system) throw new UsageError("`--user` cannot be combined with `--system`");
  const scope = values.user ? "user" : values.system || process.getuid?.() === 0 ? "system" : "user";
  if (scope === "user" && values["run-as"] !== undefined)
    throw new UsageError("`--run-as` requires `--system`; a unit of your own manager runs as you");
  return scope;
}

/** Returns what the unit is made of. Throws for options that the service would refuse. */
export async function requestOf(service: ServiceName, invocation: Invocation): Promise<ServiceRequest> {
  const { values, rest } = invocation;
  const scope = scopeOf(invocation);
  const account = await accountFor(scope, invocation);
  const passed = rest ?? [];
  const { url, more } = service === "serve" ? await serveOptions(passed) : await workerOptions(passed, account);
  const { installedVersion, managerVersion } = await import("../../../setup/service/systemctl.ts");
  const onlyWrites = values.print || values["dry-run"] || values["no-start"];
  const state = textOption(values, "state");
  return {
    service,
    scope,
    account,
    folder: process.cwd(),
    args: [service, ...passed, ...more],
    state: state ? resolve(state) : account.isOwn ? defaultState() : join(account.home, ".local/state/sallyport"),
    config: account.isOwn ? ownConfig() : join(account.home, ".config"),
    url,
    version: onlyWrites ? (installedVersion() ?? 0) : managerVersion(scope),
  };
}

/** Returns the folder of configurations of all programs. */
function ownConfig(): string {
  const { XDG_CONFIG_HOME: config } = process.env;
  return config && isAbsolute(config) ? config : join(homedir(), ".config");
}

export async function pathOf(service: ServiceName, scope: Scope): Promise<string> {
  const [{ unitPath }, { unitFolders }] = await Promise.all([
    import("../../../setup/service/plan.ts"),
    import("../../../setup/service/systemctl.ts"),
  ]);
  return unitPath(service, scope, ownConfig(), homedir(), unitFolders(scope));
}

async function accountFor(scope: Scope, { values }: Invocation): Promise<Account> {
  const own = { name: userInfo().username, home: homedir(), isOwn: true };
  // With sudo, the service belongs to the user that called it.
  const name = scope === "user" ? own.name : (textOption(values, "run-as") ?? process.env.SUDO_USER ?? own.name);
  if (name === own.name) return own;
  const { accountOf } = await import("../../../setup/service/plan.ts");
  return accountOf(name);
}

interface Passed {
  url: string | null;
  /** Options to add to those that were given. */
  more: string[];
}

const NOT_PASSED = ["help", "version", "json", "state"] as const;

function assertPassable(values: Invocation["values"], positionals: readonly string[]): void {
  const option = NOT_PASSED.find((name) => values[name] !== undefined);
  if (option === "state") throw new UsageError("`--state` must be in front of `--`");
  if (option) throw new UsageError(`\`--${option}\` cannot be passed to a service`);
  const [unexpected] = positionals;
  if (unexpected !== undefined) throw new UsageError(`unexpected argument \`${unexpected}\` after \`--\``);
}

async function serveOptions(argv: string[]): Promise<Passed> {
  const { addressOf, serve } = await import("./serve.ts");
  const { values, positionals, rest } = parseCommand(serve, argv);
  assertPassable(values, [...positionals, ...(rest ?? [])]);
  const { host, port, tls } = addressOf(values);
  if (port === 0) throw new UsageError("`--listen` must name a port, because a service needs the same one each time");
  // A wildcard address is not one that can be connected to.
  const name = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return { url: `${tls ? "https" : "http"}://${name.includes(":") ? `[${name}]` : name}:${port}`, more: [] };
}

async function workerOptions(argv: string[], account: Account): Promise<Passed> {
  const { workerSettings, worker } = await import("./worker.ts");
  const { values, positionals, rest } = parseCommand(worker, argv);
  assertPassable(values, [...positionals, ...(rest ?? [])]);
  workerSettings(values);
  const { fleetFromEnvironment } = await import("../../../fleet/url.ts");
  const { SALLYPORT_FLEET: given } = process.env;
  const fleet = textOption(values, "fleet") ?? given;
  // Throws for a malformed URL, and for one with a password, which other users could read in the unit.
  if (fleet) fleetFromEnvironment({ SALLYPORT_FLEET: fleet });
  if (values.fleet === undefined && fleet) return { url: null, more: ["--fleet", fleet] };
  // The configuration of another account is read when the service starts.
  if (!fleet && account.isOwn) {
    const { loadConfig } = await import("../../../config/load.ts");
    if (!loadConfig({ workspace: process.cwd() }).settings.fleet)
      throw new SallyportError("InvalidRequest", ...needsFleet("worker"));
  }
  return { url: null, more: [] };
}
