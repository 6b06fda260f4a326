import type { Toolset } from "../define.ts";
import { renaming } from "../rename.ts";
import { isBlocked } from "./is-blocked.ts";
import { killProcess } from "./kill-process.ts";
import { run } from "./run.ts";
import { runBackground } from "./run-background.ts";

/** The process runner: commands with exit code, separate streams and a stated intent. */
export const RUNNER: Toolset = {
  name: "runner",
  tools: [run, runBackground, killProcess, isBlocked],
  rename: renaming({}, { logFile: "log_file", timeoutMs: "timeout" }),
};
