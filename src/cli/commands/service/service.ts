import { existsSync } from "node:fs";
import type { ServiceRequest, UnitPlan } from "../../../setup/service/plan.ts";
import { SERVICES, type ServiceName, unitName } from "../../../setup/service/unit.ts";
import { type Command, type Invocation, UsageError } from "../../command.ts";
import { printJson } from "../../io.ts";
import { durationOption } from "../../options.ts";
import { assertPerson } from "../../person.ts";
import { confirm, fileDiff } from "../../terminal/file-changes.ts";
import { pathOf, requestOf, scopeOf } from "./service-request.ts";

const ACTIONS = ["install", "uninstall", "status", "ready"] as const;

export const service: Command = {
  name: "service",
  summary: "Run `serve` or `worker` as a systemd service",
  usage:
    "sallyport service install [serve|worker] [OPTIONS] [-- SERVICE OPTIONS]\n       sallyport service uninstall [serve|worker] [OPTIONS]\n       sallyport service status [serve|worker] [OPTIONS]\n       sallyport service ready [worker|URL] [--wait DUR]",
  description: `
    install writes a systemd unit, enables it and starts it. The service starts in the current directory, which is the
    workspace of serve. Commands and their output outlive a restart of the service. The change is shown first and, on a terminal,
    confirmed. Running it again with other options replaces the unit; drop-ins of \`systemctl edit\` are kept.

    Variables that the service needs, such as credentials, belong in the file that EnvironmentFile= of the unit names.`,
  actions: {
    install: "Write the unit, and start the service",
    uninstall: "Stop the service, and remove the unit",
    status: "Show the state of the unit; the exit code is 1 unless it is active",
    ready: "Exit with 0 when a service accepts requests, and else with 1, for health checks",
  },
  options: {
    user: { type: "boolean" },
    system: { type: "boolean" },
    "run-as": { type: "string" },
    remove: { type: "boolean" },
    print: { type: "boolean" },
    "dry-run": { type: "boolean", short: "n" },
    "no-start": { type: "boolean" },
    yes: { type: "boolean", short: "y" },
    wait: { type: "string" },
  },
  help: {
    user: "A unit of your own systemd manager (default for ordinary users)",
    system: "A unit of the machine (default for root)",
    "run-as": "USER: Account that a system unit runs as (default: the user that called sudo, else root)",
    remove: "Same as uninstall",
    print: "Print the unit instead of writing it",
    "dry-run": "Show the change without making it",
    "no-start": "Only write or remove the file, and print the commands that are left to run",
    yes: "Do not ask on a terminal, and discard edits of the unit",
    wait: "DUR: How long to wait until the service is ready (default: 0)",
    state: "DIR: State folder of the service (default: that of its account)",
    json: "Print JSON",
  },
  groups: {
    "Options for install": ["run-as", "print"],
    "Options for install and uninstall": ["dry-run", "no-start", "yes", "remove"],
    "Options for ready": ["wait"],
  },
  examples: [
    ["Serve the console of the current directory, also after a reboot", "sallyport service install"],
    ["Serve on another port", "sallyport service install serve -- --listen 8080"],
    [
      "Run a worker as the user agent",
      "sudo sallyport service install worker --run-as agent -- --fleet nats://10.0.0.1:4222",
    ],
    ["Show the unit", "sallyport service install --print"],
    ["Stop and remove it", "sallyport service uninstall"],
    ["Wait until the console accepts requests", "sallyport service ready http://127.0.0.1:4180 --wait 30s"],
  ],
  run: async (invocation) => {
    const [given, name, unexpected] = invocation.positionals;
    if (unexpected !== undefined) throw new UsageError(`unexpected argument \`${unexpected}\` for \`service\``);
    const action = ACTIONS.find((each) => each === given);
    if (!action) {
      const what = given === undefined ? "no subcommand given" : `unknown subcommand \`service ${given}\``;
      throw new UsageError(`${what}; use install, uninstall, status or ready`);
    }
    const removes = action === "uninstall" || (action === "install" && invocation.values.remove === true);
    if (invocation.rest !== null && (action !== "install" || removes))
      throw new UsageError("only `service install` takes options after `--`");
    if (action === "ready") return ready(name, invocation);
    const which = serviceNamed(name);
    if (action === "status") return status(which, invocation);
    return removes ? uninstall(which, invocation) : install(which, invocation);
  },
};

function serviceNamed(name = "serve"): ServiceName {
  const found = SERVICES.find((each) => each === name);
  if (!found) throw new UsageError(`unknown service \`${name}\`; use ${SERVICES.join(" or ")}`);
  return found;
}

async function install(which: ServiceName, invocation: Invocation): Promise<number> {
  const { values, io } = invocation;
  const request = await requestOf(which, invocation);
  const { planInstall, renderUnit, writeUnit } = await import("../../../setup/service/plan.ts");
  if (values.print) {
    io.out(renderUnit(request));
    return 0;
  }
  const plan = planInstall(request, await pathOf(which, request.scope), values.yes === true);
  const isChanged = plan.text !== plan.after;
  if (!(await mayWrite(plan, isChanged, invocation))) return 1;
  if (values["dry-run"]) return report(plan, "not changed", invocation);
  if (isChanged) writeUnit(plan);
  if (values["no-start"]) {
    report(plan, "written", invocation);
    const manager = request.scope === "user" ? "systemctl --user" : "systemctl";
    io.err(`Start it with \`${manager} daemon-reload && ${manager} enable --now ${plan.unit}\`.\n`);
    return 0;
  }
  const { enableAndStart } = await import("../../../setup/service/systemctl.ts");
  enableAndStart(request.scope, which, isChanged);
  report(plan, isChanged ? "installed" : "already installed", invocation);
  await tellNext(request, invocation);
  return 0;
}

async function tellNext({ scope, service: which, account, url }: ServiceRequest, { io }: Invocation): Promise<void> {
  const journal = `journalctl ${scope === "user" ? "--user " : ""}-u ${unitName(which)}`;
  io.err(`Its messages: \`${journal}\`\n`);
  if (url !== null) {
    io.err(`Sign in: \`${account.isOwn ? "" : `sudo -u ${account.name} -i `}sallyport token link ${url}\`\n`);
  }
  if (scope === "user" && !existsSync(`/var/lib/systemd/linger/${account.name}`)) {
    io.err(`It stops when you log out. To keep it running: \`loginctl enable-linger ${account.name}\`\n`);
  }
}

async function uninstall(which: ServiceName, invocation: Invocation): Promise<number> {
  const { values, io } = invocation;
  const scope = scopeOf(invocation);
  const { planUninstall, removeEmptyFolders, writeUnit } = await import("../../../setup/service/plan.ts");
  const plan = planUninstall(which, scope, await pathOf(which, scope), values.yes === true);
  if (plan.text === null) return report(plan, "not installed", invocation);
  if (!(await mayWrite(plan, true, invocation))) return 1;
  if (values["dry-run"]) return report(plan, "not changed", invocation);
  const { managerVersion, reload, stopAndDisable } = await import("../../../setup/service/systemctl.ts");
  const starts = !values["no-start"];
  if (starts) {
    managerVersion(scope);
    stopAndDisable(scope, which);
  }
  writeUnit(plan);
  removeEmptyFolders(plan);
  if (starts) reload(scope);
  report(plan, "removed", invocation);
  io.err("Commands that are still running were not ended; `sallyport ps` lists them.\n");
  return 0;
}

/** Shows the change and asks on a terminal. A command of an agent must not change what runs unconfined (invariant 7). */
async function mayWrite(plan: UnitPlan, isChanged: boolean, { values, io }: Invocation): Promise<boolean> {
  await assertPerson();
  if (!isChanged) return true;
  if (!values.json) io.out(fileDiff(plan, io));
  if (values["dry-run"] || values.yes || !io.isTTY.stdin || !io.isTTY.stderr) return true;
  const action = values["no-start"] ? "" : plan.after === null ? " and stop the service" : " and start the service";
  if (await confirm(`${plan.after === null ? "Remove" : "Write"} this file${action}?`, io)) return true;
  io.err("Nothing was changed.\n");
  return false;
}

type Outcome = "installed" | "already installed" | "written" | "removed" | "not installed" | "not changed";

function report({ unit, path, scope }: UnitPlan, outcome: Outcome, { values, io }: Invocation): number {
  if (values.json) printJson({ unit, path, scope, outcome }, io);
  else if (outcome !== "not changed") io.err(`${unit} is ${outcome} (${path}).\n`);
  return 0;
}

async function status(which: ServiceName, invocation: Invocation): Promise<number> {
  const { values, io } = invocation;
  const { unitState } = await import("../../../setup/service/systemctl.ts");
  const state = unitState(scopeOf(invocation), which);
  if (values.json) printJson(state, io);
  else {
    const { unit, active, sub, enabled, pid, since, restarts } = state;
    io.out(
      `${[unit, `${active} (${sub})`, enabled, pid === null ? "-" : `pid ${pid}`, since ?? "-", `${restarts} restarts`].join("\t")}\n`,
    );
  }
  return state.active === "active" ? 0 : 1;
}

async function ready(target: string | undefined, { values, io }: Invocation): Promise<number> {
  const { waitUntilReady } = await import("./ready.ts");
  const why = await waitUntilReady(target ?? "http://127.0.0.1:4180", durationOption(values, "wait") ?? 0);
  if (why === null) return 0;
  io.err(`sallyport: not ready: ${why}\n`);
  return 1;
}
