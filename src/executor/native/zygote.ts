import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { SallyportError } from "../../core/error.ts";
import { nextStep, operatorStep } from "../../core/next-step.ts";
import { keeperUnavailable, readIfExists } from "../errors.ts";
import { findProcess, sendSignal } from "../processes.ts";
import { spawnKeeper } from "../spawn-keeper.ts";
import { type Connection, openConnection } from "./connection.ts";

/** The folder of the compiled keeper. The relative path is the same from src/ and from dist/. */
const BUILD = join(dirname(fileURLToPath(import.meta.url)), "../../../native/build");
/** The folder of the prebuilt keeper in the package, for installations without install scripts. */
const PREBUILT = join(BUILD, "../prebuilt", `${process.platform}-${process.arch}`);
/** The folders in which this installation may have its keeper. */
export const KEEPER_FOLDERS = [BUILD, PREBUILT];
/** The script that installs the keeper. Hints name its path, because it has no command of its own. */
const INSTALLER = join(BUILD, "../install.js");
export const BUILD_COMMAND = `node ${INSTALLER}`;

/** Installs the keeper as the package's install script does. Throws with the compiler's message. */
export function buildKeeper(): void {
  execFileSync(process.execPath, [INSTALLER], { stdio: ["ignore", "ignore", "pipe"] });
}

/** An argument that reserves space for the process title, which is written over the arguments. */
const TITLE_SPACE = " ".repeat(240);
const ATTEMPTS = 40;
/** Keepers are forked one after another, so a connection may wait when hundreds of commands start at once. */
const HELLO_TIMEOUT_MS = 30_000;

export function keeperBinary(): string {
  return process.env.SALLYPORT_KEEPER ?? join(isBuilt(BUILD) || !isBuilt(PREBUILT) ? BUILD : PREBUILT, "keeper");
}

const built = new Set<string>();

function isBuilt(folder: string): boolean {
  if (!built.has(folder) && existsSync(join(folder, "keeper.id"))) built.add(folder);
  return built.has(folder);
}

/** Returns the path of the zygote's socket. Every build has its own, so an upgrade does not affect running commands. */
export function socketPath(state: string): string {
  return join(state, `keeper-${buildId()}.sock`);
}

let knownBuild: string | null = null;

function readBuildId(): string {
  return readFileSync(`${keeperBinary()}.id`, "utf8").trim();
}

/**
 * Throws if the keeper was upgraded after this gateway was opened: a gateway must not start a keeper of another build.
 */
function assertSameBuild(): void {
  try {
    if (readBuildId() === buildId()) return;
  } catch {
    return; // the file is missing; starting the keeper reports it
  }
  throw new SallyportError(
    "KeeperUnavailable",
    "The keeper was replaced with another build after this gateway was opened.",
    [
      {
        action: "restart",
        hint: "Restart this process. The new gateway uses the new keeper and finds all sessions.",
      },
    ],
  );
}

function buildId(): string {
  try {
    knownBuild ??= readBuildId();
    return knownBuild;
  } catch (error) {
    // Other errors, such as exhausted descriptors, do not mean that the keeper is missing.
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw unavailable((error as Error).message);
    throw new SallyportError("KeeperUnavailable", "The native keeper has not been built.", [
      { action: "install_compiler", hint: "Install a C compiler, for example with `apt-get install gcc libc6-dev`." },
      { action: "rebuild", hint: `Then build the keeper with \`${BUILD_COMMAND}\`.` },
      operatorStep("doctor", "Run `sallyport doctor` to see what this machine supports."),
    ]);
  }
}

function unavailable(reason: string): SallyportError {
  return keeperUnavailable("The keeper", reason);
}

const LOG_LEVELS = ["error", "warn", "info", "debug"];

/** Returns the level of messages that the zygote and its keepers write to `keeper.log` in the state folder. */
function logLevel(): string {
  const level = process.env.SALLYPORT_KEEPER_LOG ?? "";
  return LOG_LEVELS.includes(level) ? level : "warn";
}

/** Starts the zygote without the gateway's environment, which other processes could read there (invariant 7). */
function start(state: string): Promise<void> {
  const args = ["serve", state, TITLE_SPACE, "/proc/self", logLevel()];
  return spawnKeeper([keeperBinary(), ...args], { cwd: "/", env: {} }, unavailable);
}

/**
 * Makes the zygote of a keeper exit, so that the next command starts a new one. Commands that run already are not
 * affected.
 */
export function retireZygote(state: string, keeperPid: number): void {
  const parent = findProcess(keeperPid)?.parent ?? 0;
  // The zygote may have exited, in which case the keeper has another parent.
  const title = parent > 1 ? (readIfExists(`/proc/${parent}/cmdline`, "latin1") ?? "") : "";
  if (title.includes(`zygote ${state}`)) sendSignal(parent, constants.signals.SIGTERM);
}

const NOT_LISTENING = new Set(["ENOENT", "ECONNREFUSED", "ECONNRESET"]);

/** Connects to an idle keeper. Starts the zygote if it does not run. */
export async function connectToZygote(state: string): Promise<Connection> {
  const path = socketPath(state);
  let reason = "";
  let full = false;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    try {
      return await openConnection(path, HELLO_TIMEOUT_MS);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      reason = message;
      full = code === "EAGAIN";
      if (code === "EAGAIN") await sleep(25);
      else if (code !== undefined && NOT_LISTENING.has(code)) {
        assertSameBuild();
        await start(state);
      } else break;
    }
    // Another gateway may be starting a zygote that holds the lock but does not listen yet.
    if (attempt > 0) await sleep(Math.min(5 * attempt, 100));
  }
  throw full ? outOfProcesses() : unavailable(reason);
}

function outOfProcesses(): SallyportError {
  return new SallyportError("SpawnFailed", "No keeper could be forked, because the process limit is reached.", [
    nextStep("check_status", { name: "stop-some-sessions" }),
    operatorStep("retry", "Try again when some processes have ended, or raise the limit with `ulimit -u`."),
  ]);
}
