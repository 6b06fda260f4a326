import { checkCgroup } from "./cgroup.ts";
import { checkCompiler } from "./compiler.ts";
import { checkDisk } from "./disk.ts";
import { checkExecutor } from "./executor.ts";
import type { Check } from "./finding.ts";
import { checkFirstRun } from "./first-run.ts";
import { checkHolePunching } from "./hole-punching.ts";
import { checkKeeper } from "./keeper.ts";
import { checkKernel } from "./kernel.ts";
import { checkOpenFiles, checkProcesses } from "./limits.ts";
import { checkNode } from "./node.ts";
import { checkCommandUser, checkSandbox } from "./sandbox.ts";
import { checkStateFolder } from "./state-folder.ts";

/** In the order a person would look: what everything stands on comes first. */
export const CHECKS: readonly Check[] = [
  checkKernel,
  checkNode,
  checkExecutor,
  checkKeeper,
  checkCompiler,
  checkStateFolder,
  checkDisk,
  checkHolePunching,
  checkSandbox,
  checkCommandUser,
  checkCgroup,
  checkOpenFiles,
  checkProcesses,
  checkFirstRun,
];
