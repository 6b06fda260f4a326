import { execFileSync } from "node:child_process";
import { accessSync, constants, existsSync, mkdtempSync, rmSync } from "node:fs";
import { delimiter, join } from "node:path";
import { SallyportError } from "../core/error.ts";
import { portableLimitations } from "../executor/executor.ts";
import { BUILD_COMMAND, keeperBinary } from "../executor/native/zygote.ts";
import { PORTABLE } from "../executor/portable/connect.ts";
import { selectExecutor } from "../executor/select-executor.ts";
import { temporaryFolder } from "../sandbox/private-tmp/base.ts";
import { formatDuration } from "../text/format.ts";
import { type Finding, fail, type Machine, ok, warn } from "./finding.ts";

const REBUILD = `Install a C compiler and build the keeper: ${BUILD_COMMAND}`;

/** Checks that the keeper is built and starts on this machine. */
export async function checkKeeper(machine: Machine): Promise<Finding> {
  const found = keeperFinding();
  // Commands still run with the portable executor, whose limitations the `executor` check reports.
  return found.status === "fail" && usesPortable(machine) ? { ...found, status: "warn" } : found;
}

function usesPortable({ state }: Machine): boolean {
  try {
    return selectExecutor(state).kind === "portable";
  } catch {
    return false; // The `executor` check reports this error.
  }
}

function keeperFinding(): Finding {
  const program = keeperBinary();
  if (!existsSync(program)) return fail("keeper", `not built: ${program} is missing`, REBUILD);
  try {
    return ok("keeper", execFileSync(program, ["--version"], { encoding: "utf8", timeout: 5000 }).trim());
  } catch (error) {
    const reason = error instanceof Error ? error.message.split("\n")[0] : String(error);
    return fail("keeper", `${program} does not start: ${reason}`, REBUILD);
  }
}

const EXECUTOR = "executor";

/** Reports which executor runs commands on this machine, and its limitations. */
export function checkExecutor(machine: Machine): Finding {
  try {
    const { kind, asked, reason } = selectExecutor(machine.state);
    if (kind === "native") return ok(EXECUTOR, "native");
    const why = asked ? "set by SALLYPORT_EXECUTOR" : (reason ?? "");
    const fix = asked ? "Unset SALLYPORT_EXECUTOR to use the native executor." : fixFor(process.platform);
    return warn(EXECUTOR, `portable, ${why}: ${portableLimitations(PORTABLE.abilities).join("; ")}`, fix);
  } catch (error) {
    return fail(EXECUTOR, error instanceof Error ? error.message : String(error), "Unset SALLYPORT_EXECUTOR.");
  }
}

function fixFor(platform: NodeJS.Platform): string {
  return platform === "linux"
    ? REBUILD
    : "Use Linux (a virtual machine, a container or WSL 2) for the native executor.";
}

/** Looks for the compiler that the keeper's build would use. */
export function checkCompiler(): Finding {
  const found = findOnPath([process.env.CC || "cc"]);
  if (found) return ok("compiler", found);
  return warn(
    "compiler",
    "no C compiler found; the keeper cannot be rebuilt",
    "Install a compiler: `apt install gcc libc6-dev`, `dnf install gcc` or `apk add build-base`.",
  );
}

export function findOnPath(names: string[]): string | null {
  const folders = (process.env.PATH ?? "").split(delimiter).filter(Boolean);
  const places = names.flatMap((name) => (name.includes("/") ? [name] : folders.map((folder) => join(folder, name))));
  return places.find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const FIRST_RUN = "test command";
const REPORT = "Fix the failures above. If there are none, report this as a bug.";

/** Runs one command through a gateway with a temporary state folder. Its keeper exits when the folder is removed. */
export async function checkFirstRun(): Promise<Finding> {
  const state = mkdtempSync(join(temporaryFolder(), "sallyport-doctor-"));
  try {
    const { openGateway } = await import("../gateway/open.ts");
    const gateway = await openGateway({ state });
    const { exitCode, stdout, durationMs, error } = await gateway
      .run({ command: "echo ready", timeoutMs: 5000 })
      .finally(() => gateway.close());
    if (exitCode === 0 && stdout === "ready\n") return ok(FIRST_RUN, `completed in ${formatDuration(durationMs)}`);
    return fail(
      FIRST_RUN,
      error?.message ?? `the test command failed with exit code ${exitCode}`,
      error?.recovery[0]?.hint ?? REPORT,
    );
  } catch (error) {
    const hint = error instanceof SallyportError ? error.recovery[0]?.hint : undefined;
    return fail(FIRST_RUN, error instanceof Error ? error.message : String(error), hint ?? REPORT);
  } finally {
    rmSync(state, { recursive: true, force: true });
  }
}
