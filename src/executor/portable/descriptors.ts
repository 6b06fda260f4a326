import { closeSync, readdirSync, readFileSync } from "node:fs";

const O_CLOEXEC = 0o2000000;

/**
 * Closes what a careless parent left open for its children: commands would get it as well, and with it perhaps a file
 * or a connection that is none of theirs (promise 7). Node's own are all marked not to be inherited, which tells them
 * apart. Only Linux shows the mark.
 */
export function closeInherited(): void {
  if (process.platform !== "linux") return;
  for (const name of readdirSync("/proc/self/fd")) {
    const fd = Number(name);
    if (fd > 2 && !isCloseOnExec(fd)) closeSync(fd);
  }
}

function isCloseOnExec(fd: number): boolean {
  try {
    const flags = /^flags:\s+([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "latin1"))?.[1] ?? "";
    return (Number.parseInt(flags, 8) & O_CLOEXEC) !== 0;
  } catch {
    return true; // it was the listing's own
  }
}
