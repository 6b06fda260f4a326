import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, extname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { SallyportError } from "../../core/error.ts";
import type { LaunchSpec } from "../../core/launch.ts";
import { NO_LIMITS } from "../../core/launch.ts";
import { keeperUnavailable } from "../errors.ts";
import { type Connection, openConnection } from "../native/connection.ts";
import type { KeeperKind } from "../native/executor.ts";
import { spawnKeeper } from "../spawn-keeper.ts";

const SELF = fileURLToPath(import.meta.url);
const FOLDER = dirname(SELF);
const PROGRAM = join(FOLDER, `main${extname(SELF)}`);
/** The folders whose code the portable keeper runs. */
const CODE_FOLDERS = [FOLDER, join(FOLDER, ".."), join(FOLDER, "../native")];
/** An argument that reserves space for the process title, which is written over the arguments. */
const TITLE_SPACE = " ".repeat(240);
const ATTEMPTS = 40;
/**
 * The number of retries after a timeout: one process serves all commands and may be slow when hundreds start at once.
 */
const TIMEOUT_RETRIES = 5;
/** The optional package that opens terminals. */
export const PTY_MODULE = "@lydell/node-pty";
const NOT_LISTENING = new Set(["ENOENT", "ECONNREFUSED", "ECONNRESET"]);

/**
 * The keeper that runs on Node, for machines where the native keeper cannot run. docs/portable.md lists its
 * limitations.
 */
export const PORTABLE: KeeperKind = {
  abilities: {
    kind: "portable",
    confines: false,
    survives: true,
    exactTrees: false,
    limits: false,
    get pty() {
      return hasTerminals();
    },
    remote: false,
  },
  connect,
  supported: (spec: LaunchSpec) => ({ ...spec, sandbox: null, limits: NO_LIMITS }),
};

let ptyInstalled: boolean | null = null;

function hasTerminals(): boolean {
  try {
    ptyInstalled ??= createRequire(import.meta.url).resolve(PTY_MODULE) !== "";
  } catch {
    ptyInstalled = false;
  }
  return ptyInstalled;
}

let cachedBuildId: string | null = null;

/** Returns a hash of the keeper's code. Gateways use only a keeper of their own version. */
export function buildId(): string {
  if (cachedBuildId !== null) return cachedBuildId;
  const hash = createHash("sha256");
  for (const folder of CODE_FOLDERS) {
    for (const name of readdirSync(folder).sort()) {
      if (/\.[jt]s$/.test(name) && !name.endsWith(".d.ts")) hash.update(name).update(readFileSync(join(folder, name)));
    }
  }
  cachedBuildId = hash.digest("hex").slice(0, 12);
  return cachedBuildId;
}

/** Returns the path of the socket of a state folder's portable keeper. */
export function socketPath(state: string): string {
  return join(state, `portable-${buildId()}.sock`);
}

/** Keepers that are being started, by state folder. Concurrent commands wait for the same one. */
const starting = new Map<string, Promise<void>>();

function startOnce(state: string): Promise<void> {
  const pending = starting.get(state);
  if (pending) return pending;
  // Other processes can read the keeper's environment, so it receives no variables of the gateway (invariant 7).
  const env = process.versions.electron ? { ELECTRON_RUN_AS_NODE: "1" } : {};
  const argv = [process.execPath, PROGRAM, state, TITLE_SPACE] as const;
  const start = spawnKeeper(argv, { cwd: "/", env }, (why) => unavailable(why.split("\n").at(-1) ?? "")).finally(() =>
    starting.delete(state),
  );
  starting.set(state, start);
  return start;
}

/** Connects to the portable keeper of a state folder, and starts it if it is not running. */
async function connect(state: string): Promise<Connection> {
  if (process.platform === "win32") throw unavailable("Windows is not supported; use WSL 2");
  const path = socketPath(state);
  let reason = "";
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    try {
      return await openConnection(path);
    } catch (error) {
      const { code = "", message } = error as NodeJS.ErrnoException;
      reason = message;
      if (code === "ETIMEDOUT" && attempt < TIMEOUT_RETRIES) continue;
      if (!NOT_LISTENING.has(code)) break;
    }
    await startOnce(state);
    if (attempt > 0) await sleep(Math.min(5 * attempt, 100));
  }
  throw unavailable(reason);
}

function unavailable(reason: string): SallyportError {
  return keeperUnavailable("The portable keeper", reason);
}
