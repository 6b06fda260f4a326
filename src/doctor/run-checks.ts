import { CHECKS } from "./checks.ts";
import { type Check, type Finding, fail, type Machine } from "./finding.ts";

/** Everything that can be found out about this machine; `ok`: nothing is broken. */
export async function examine(machine: Machine): Promise<{ ok: boolean; findings: Finding[] }> {
  const findings = await Promise.all(CHECKS.map((check) => look(check, machine)));
  return { ok: findings.every(({ status }) => status !== "fail"), findings };
}

/** A look that goes wrong is a finding too. */
async function look(check: Check, machine: Machine): Promise<Finding> {
  try {
    return await check(machine);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return fail(check.name, message, "This should not happen; please report it.");
  }
}
