import { setTimeout as sleep } from "node:timers/promises";
import { SallyportError } from "../../core/error.ts";
import type { LaunchSpec } from "../../core/launch.ts";
import { NO_LIMITS } from "../executor.ts";
import { type Connection, openConnection } from "../native/connection.ts";
import type { Keepers } from "../native/executor.ts";
import { doorPath } from "./socket-path.ts";
import { startKeeper } from "./start.ts";
import { hasTerminals } from "./terminal.ts";

const ATTEMPTS = 40;
/** One process serves all: with hundreds of commands at once it may take its time. */
const SLOW_ATTEMPTS = 5;
const NOBODY_THERE = new Set(["ENOENT", "ECONNREFUSED", "ECONNRESET"]);

/** Node only, for machines where the native keeper cannot be built or run. docs/portable.md says what it cannot do. */
export const PORTABLE: Keepers = {
  abilities: {
    kind: "portable",
    confines: false,
    survives: true,
    exactTrees: false,
    limits: false,
    /** Looked for when it is asked: where the native keeper serves, nobody does. */
    get pty() {
      return hasTerminals();
    },
    elsewhere: false,
  },
  connect,
  able: (spec: LaunchSpec) => ({ ...spec, sandbox: null, limits: NO_LIMITS }),
};

const starting = new Map<string, Promise<void>>();

/** Many commands may find nobody there at the same moment: one of them starts it for all. */
function startOnce(state: string): Promise<void> {
  const known = starting.get(state);
  if (known) return known;
  const start = startKeeper(state)
    .catch((error: Error) => Promise.reject(unavailable(error.message)))
    .finally(() => starting.delete(state));
  starting.set(state, start);
  return start;
}

async function connect(state: string): Promise<Connection> {
  const path = doorPath(state);
  let reason = "";
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    try {
      return await openConnection(path);
    } catch (error) {
      const { code = "", message } = error as NodeJS.ErrnoException;
      reason = message;
      if (code === "ETIMEDOUT" && attempt < SLOW_ATTEMPTS) continue;
      if (!NOBODY_THERE.has(code)) break;
    }
    await startOnce(state);
    if (attempt > 0) await sleep(Math.min(5 * attempt, 100));
  }
  throw unavailable(reason);
}

function unavailable(reason: string): SallyportError {
  return new SallyportError("KeeperUnavailable", `The portable keeper could not be reached: ${reason}.`, [
    { action: "doctor", hint: "`sallyport doctor` shows what is wrong with the state folder or the keeper." },
    { action: "retry", hint: "Try again; a keeper is started on demand." },
  ]);
}
