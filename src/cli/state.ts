import { resolve } from "node:path";
import { defaultState } from "../storage/state-folder.ts";

/** `--state`, else what the environment says. */
export function stateFolder(option: string | undefined, env: NodeJS.ProcessEnv = process.env): string {
  return option ? resolve(option) : defaultState(env);
}
