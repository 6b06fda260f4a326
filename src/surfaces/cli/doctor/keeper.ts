import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { promisify } from "node:util";
import { BUILD_COMMAND, keeperBinary } from "../../../executor/native/zygote.ts";
import { type Finding, fail, ok } from "./finding.ts";

const REBUILD = `With a C compiler installed, build it: ${BUILD_COMMAND}`;

/** The native program that runs commands: there, and able to start on this machine. */
export async function checkKeeper(): Promise<Finding> {
  const program = keeperBinary();
  if (!existsSync(program)) return fail("keeper", `not built: ${program} is missing`, REBUILD);
  try {
    const { stdout } = await promisify(execFile)(program, ["--version"], { timeout: 5000 });
    return ok("keeper", stdout.trim());
  } catch (error) {
    const reason = error instanceof Error ? error.message.split("\n")[0] : String(error);
    return fail("keeper", `${program} does not run: ${reason}`, REBUILD);
  }
}
