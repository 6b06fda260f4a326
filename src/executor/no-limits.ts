import type { LaunchLimits } from "./executor.ts";

/** As the system has it. */
export const NO_LIMITS: LaunchLimits = {
  processes: null,
  exactProcesses: false,
  openFiles: null,
  fileSize: null,
  cpu: null,
  memoryBytes: null,
  diskBytes: null,
};
