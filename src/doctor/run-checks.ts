import { checkCompiler, checkExecutor, checkFirstRun, checkKeeper } from "./executor.ts";
import { type Check, type Finding, fail, type Machine } from "./finding.ts";
import {
  checkCgroup,
  checkCommandUser,
  checkKernel,
  checkNode,
  checkOpenFiles,
  checkProcesses,
  checkSandbox,
} from "./kernel.ts";
import { checkDisk, checkHolePunching, checkStateFolder } from "./state-folder.ts";

/** Everything that can be found out about this machine; `ok`: nothing is broken. */
export async function runChecks(machine: Machine): Promise<{ ok: boolean; findings: Finding[] }> {
  const findings = await Promise.all(CHECKS.map((check) => runCheck(check, machine)));
  return { ok: findings.every(({ status }) => status !== "fail"), findings };
}

/** A look that goes wrong is a finding too. */
async function runCheck(check: Check, machine: Machine): Promise<Finding> {
  try {
    return await check(machine);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return fail(check.name, message, "This should not happen; please report it.");
  }
}

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
