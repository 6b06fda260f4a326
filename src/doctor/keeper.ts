import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { BUILD_COMMAND, keeperBinary } from "../executor/native/zygote.ts";
import { selectExecutor } from "../executor/select-executor.ts";
import { type Finding, fail, type Machine, ok } from "./finding.ts";

export const REBUILD = `With a C compiler installed, build it: ${BUILD_COMMAND}`;

/** The native program that runs commands: there, and able to start on this machine. */
export async function checkKeeper(machine: Machine): Promise<Finding> {
  const found = look();
  // Without it commands run all the same, under the portable executor, which `executor` tells of.
  return found.status === "fail" && isPortable(machine) ? { ...found, status: "warn" } : found;
}

function isPortable({ state }: Machine): boolean {
  try {
    return selectExecutor(state).kind === "portable";
  } catch {
    return false; // `executor` tells of it
  }
}

function look(): Finding {
  const program = keeperBinary();
  if (!existsSync(program)) return fail("keeper", `not built: ${program} is missing`, REBUILD);
  try {
    return ok("keeper", execFileSync(program, ["--version"], { encoding: "utf8", timeout: 5000 }).trim());
  } catch (error) {
    const reason = error instanceof Error ? error.message.split("\n")[0] : String(error);
    return fail("keeper", `${program} does not run: ${reason}`, REBUILD);
  }
}
