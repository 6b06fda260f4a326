import type { Toolset } from "../define.ts";
import { renaming } from "../rename.ts";
import { processKill } from "./kill.ts";
import { processList } from "./list.ts";
import { processLogs } from "./logs.ts";
import { processMonitor } from "./monitor.ts";
import { processRun } from "./run.ts";
import { PROCESS_ERRORS } from "./text.ts";

/** The process capabilities: one result shape, named errors with named ways out, permission tiers. */
export const PROCESS: Toolset = {
  name: "process",
  tools: [processRun, processMonitor, processKill, processList, processLogs],
  rename: renaming(PROCESS_ERRORS, { cwd: "working_directory", env: "environment", timeoutMs: "timeout" }),
};
