import { execFileSync } from "node:child_process";
import { INSTALLER } from "./zygote.ts";

/** Puts the keeper in place as an installation does. Throws what the compiler says. */
export function buildKeeper(): void {
  execFileSync(process.execPath, [INSTALLER], { stdio: ["ignore", "ignore", "pipe"] });
}
