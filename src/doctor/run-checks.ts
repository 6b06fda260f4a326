import { SallyportError } from "../core/error.ts";
import { checkAgentHosts } from "./agent-hosts.ts";
import { checkAppArmor } from "./apparmor.ts";
import { checkCompiler, checkExecutor, checkFirstRun, checkKeeper } from "./executor.ts";
import { type Check, type Finding, fail, type Machine } from "./finding.ts";
import { checkCommandUser, checkKernel, checkNode, checkOpenFiles, checkProcesses } from "./kernel.ts";
import { checkLimits } from "./limits.ts";
import { checkLevel, checkSandbox } from "./sandbox.ts";
import { checkDisk, checkHolePunching, checkStateFolder } from "./state-folder.ts";
import { checkHardLinks } from "./workspace.ts";

/** Runs all checks. `ok` is false when a check failed. */
export async function runChecks(machine: Machine): Promise<{ ok: boolean; findings: Finding[] }> {
  const findings = await Promise.all(CHECKS.map((check) => runCheck(check, machine)));
  return { ok: findings.every(({ status }) => status !== "fail"), findings };
}

/** Turns an error in a check into a finding. */
async function runCheck(check: Check, machine: Machine): Promise<Finding> {
  try {
    return await check(machine);
  } catch (error) {
    if (error instanceof SallyportError) return fail(check.name, error.message, error.recovery[0]?.hint ?? "");
    const message = error instanceof Error ? error.message : String(error);
    return fail(check.name, message, "This is a bug in the check; please report it.");
  }
}

/** The checks in the order in which they are printed. An earlier failure often explains a later one. */
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
  checkLevel,
  checkAppArmor,
  checkCommandUser,
  checkLimits,
  checkOpenFiles,
  checkProcesses,
  checkHardLinks,
  checkAgentHosts,
  checkFirstRun,
];
