import type { Toolset } from "../define.ts";
import { renaming } from "../rename.ts";
import { execute, executePty } from "./execute.ts";
import { processManager } from "./process-manager.ts";
import { processList, processLog, processPoll } from "./read-only.ts";
import { EXEC_ERRORS } from "./text.ts";

/** The shell execution module: commands and terminals whose exits come back through the work queue. */
export const EXEC: Toolset = {
  name: "exec",
  tools: [execute, executePty, processManager, processList, processPoll, processLog],
  rename: renaming(EXEC_ERRORS, { timeoutMs: "timeout" }),
};
