import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { findShell } from "../confine/launch-spec.ts";
import { SallyportError } from "../contract/error.ts";
import type { GatewayOptions } from "../contract/gateway.ts";
import { NativeExecutor } from "../executor/native/executor.ts";
import { Registry } from "../session/registry.ts";
import { cleanIfDue, DEFAULT_RETENTION } from "../session/retention.ts";
import { openDatabase } from "../store/database.ts";
import { SessionStore } from "../store/sessions.ts";
import { openStateFolder } from "../store/state-folder.ts";
import { Gateway } from "./gateway.ts";
import type { Rooms } from "./rooms.ts";

const CLEAN_EVERY_MS = 15 * 60 * 1000;

/** `$SALLYPORT_STATE`, else `$XDG_STATE_HOME/sallyport`, else `~/.local/state/sallyport`. */
export function defaultState(env: NodeJS.ProcessEnv = process.env): string {
  if (env.SALLYPORT_STATE) return env.SALLYPORT_STATE;
  return join(env.XDG_STATE_HOME || join(homedir(), ".local/state"), "sallyport");
}

function inheritedEnv(): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(process.env)) if (value !== undefined) env[name] = value;
  return env;
}

/** Opens the door: the state folder's database and keepers, for one agent in one workspace. */
export async function openGateway(options: GatewayOptions = {}): Promise<Gateway> {
  if (process.platform !== "linux") throw notHere();
  const state = openStateFolder(options.state ?? defaultState());
  const database = openDatabase(join(state, "sallyport.db"));
  const executor = new NativeExecutor(state);
  const registry = new Registry(new SessionStore(database), executor);
  let shell: string | null = null;
  const env = inheritedEnv();
  const rooms: Rooms = {
    state,
    agent: options.agent ?? "default",
    database,
    executor,
    registry,
    launch: {
      workspace: resolve(options.workspace ?? process.cwd()),
      env,
      shell: () => {
        shell ??= findShell(env.PATH);
        return shell;
      },
      durable: options.durability === "power-loss",
    },
    retention: { ...DEFAULT_RETENTION, ...options.retention },
  };
  const timer = setInterval(() => cleanIfDue(registry, state, rooms.retention), CLEAN_EVERY_MS).unref();
  if (options.attach ?? true) await registry.recover();
  cleanIfDue(registry, state, rooms.retention);
  return new Gateway(rooms, timer);
}

function notHere(): SallyportError {
  return new SallyportError("KeeperUnavailable", `Running commands is not supported on ${process.platform} yet.`, [
    { action: "use_linux", hint: "Use Linux (a virtual machine, a container or WSL 2 will do)." },
  ]);
}
