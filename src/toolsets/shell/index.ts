import type { Toolset } from "../define.ts";
import { renaming } from "../rename.ts";
import { exec } from "./exec.ts";
import { processTool } from "./process.ts";
import { SHELL_ERRORS } from "./text.ts";

/** Multi-mode execution: commands that move to the background by themselves, and terminals. */
export const SHELL: Toolset = {
  name: "shell",
  tools: [exec, processTool],
  rename: renaming(SHELL_ERRORS, { cwd: "workdir", timeoutMs: "timeout" }),
};
