import { dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { spawnKeeper } from "../spawn-keeper.ts";

const SELF = fileURLToPath(import.meta.url);
const PROGRAM = join(dirname(SELF), `main${extname(SELF)}`);
/** The title is written over the arguments: this makes room for one. */
const TITLE_ROOM = " ".repeat(240);

/** Starts the portable keeper of a state folder. Rejects with what it said last when it does not come up. */
export function startKeeper(state: string): Promise<void> {
  const cwd = process.platform === "win32" ? state : "/";
  const env = environment(process.platform, process.env);
  return spawnKeeper(
    [process.execPath, PROGRAM, state, TITLE_ROOM],
    { cwd, env },
    (why) => new Error(why.split("\n").at(-1)),
  );
}

/** Nothing of ours that it does not need: it can be read from outside (promise 7). */
export function environment(platform: NodeJS.Platform, own: NodeJS.ProcessEnv): Record<string, string> {
  const env: Record<string, string> = {};
  // Inside Electron the program is the browser, unless it is told to be Node.
  if (process.versions.electron) env.ELECTRON_RUN_AS_NODE = "1";
  if (platform !== "win32") return env;
  for (const [name, value] of Object.entries(own)) {
    if (value !== undefined && /^(systemroot|windir|comspec|temp|tmp|path|pathext)$/i.test(name)) env[name] = value;
  }
  return env;
}
