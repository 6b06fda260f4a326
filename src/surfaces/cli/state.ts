import { homedir } from "node:os";
import { join, resolve } from "node:path";

/** `--state`, else `$SALLYPORT_STATE`, else `$XDG_STATE_HOME/sallyport`, else `~/.local/state/sallyport`. */
export function stateFolder(option: string | undefined, env: NodeJS.ProcessEnv = process.env): string {
  if (option) return resolve(option);
  if (env.SALLYPORT_STATE) return resolve(env.SALLYPORT_STATE);
  return join(env.XDG_STATE_HOME || join(homedir(), ".local", "state"), "sallyport");
}
