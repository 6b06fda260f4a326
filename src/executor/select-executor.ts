import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { SallyportError } from "../core/error.ts";
import type { Executor } from "./executor.ts";
import { KeeperExecutor, NativeExecutor } from "./native/executor.ts";
import { keeperBinary, socketPath } from "./native/zygote.ts";
import { PORTABLE } from "./portable/connect.ts";
import type { SessionReader } from "./session-data.ts";

const VARIABLE = "SALLYPORT_EXECUTOR";
const PROBE_MS = 5000;

/** The executor that runs commands on this machine. */
interface Selection {
  kind: "native" | "portable";
  /** Whether an environment variable selects the executor. */
  asked: boolean;
  /** Why the native executor is not available. Null if it is, or if an environment variable selects the executor. */
  reason: string | null;
}

/** Selects the executor that SALLYPORT_EXECUTOR names or, without it, the native one if its keeper can run. */
export function selectExecutor(state: string, env: NodeJS.ProcessEnv = process.env): Selection {
  const wanted = env[VARIABLE];
  if (wanted === "native" || wanted === "portable") return { kind: wanted, asked: true, reason: null };
  if (wanted) throw unknown(wanted);
  // A configured keeper selects the native executor, so that a keeper that does not start is reported.
  if (env.SALLYPORT_KEEPER) return { kind: "native", asked: true, reason: null };
  const reason = nativeUnavailableReason(state, process.platform, keeperBinary());
  return { kind: reason === null ? "native" : "portable", asked: false, reason };
}

export function openExecutor(state: string, reader: SessionReader): Executor {
  const native = selectExecutor(state).kind === "native";
  return native ? new NativeExecutor(state, reader) : new KeeperExecutor(state, PORTABLE, reader);
}

/**
 * Returns why the native keeper cannot run, or null if it can. The keeper is started as a test only if no keeper of
 * this build has served the state folder before.
 */
export function nativeUnavailableReason(state: string, platform: NodeJS.Platform, program: string): string | null {
  if (platform !== "linux") return `the native keeper requires Linux, not ${platform}`;
  if (!existsSync(`${program}.id`)) return "the native keeper has not been built";
  try {
    if (program === keeperBinary() && existsSync(socketPath(state))) return null;
  } catch {
    return null; // out of descriptors; the first start of a keeper reports it
  }
  const { status, error } = spawnSync(program, ["--version"], { stdio: "ignore", env: {}, timeout: PROBE_MS });
  if (status === 0 || (error && OVERLOADED.has((error as NodeJS.ErrnoException).code ?? ""))) return null;
  return `the native keeper does not start (${error?.message ?? `exit code ${status}`})`;
}

/** Errors of an overloaded system. They do not mean that the keeper is broken. */
const OVERLOADED = new Set(["EMFILE", "ENFILE", "EAGAIN", "ENOMEM", "ETIMEDOUT"]);

function unknown(wanted: string): SallyportError {
  return new SallyportError(
    "InvalidConfiguration",
    `\`${VARIABLE}\` must be "native" or "portable"; received ${JSON.stringify(wanted.slice(0, 100))}.`,
    [{ action: "fix_variable", hint: `Unset \`${VARIABLE}\` to use the native executor where it is supported.` }],
  );
}
