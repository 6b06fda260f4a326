import { accessSync, constants, statSync } from "node:fs";
import { constants as os } from "node:os";
import { delimiter, join } from "node:path";

const { EACCES, ENOENT } = os.errno;

/**
 * The file that a name means. Looked up here and not by the system: to that one an empty entry of PATH means the
 * working directory, where an agent's file would shadow a program. A number is the errno of the failure.
 */
export function findProgram(
  name: string,
  path: string,
  platform: NodeJS.Platform = process.platform,
  extensions = "",
): string | number {
  if (name.includes("/") || (platform === "win32" && name.includes("\\"))) return name;
  const endings = platform === "win32" ? ["", ...(extensions || ".EXE;.CMD;.BAT;.COM").split(";")] : [""];
  let failure = ENOENT;
  for (const folder of path.split(platform === "win32" ? ";" : delimiter)) {
    if (folder === "") continue;
    for (const ending of endings) {
      const candidate = join(folder, name + ending);
      const found = look(candidate);
      if (found === 0) return candidate;
      if (found === EACCES) failure = EACCES;
    }
  }
  return failure;
}

function look(candidate: string): number {
  try {
    if (!statSync(candidate).isFile()) return EACCES;
    accessSync(candidate, constants.X_OK);
    return 0;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EACCES" ? EACCES : ENOENT;
  }
}
