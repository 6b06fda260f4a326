/**
 * The portable keeper: `node main.js STATE`. The first gateway that needs it starts it, and it outlives the gateway.
 */
import { closeSync, readdirSync, readFileSync } from "node:fs";
import { PORTABLE_TITLE } from "../session-owner.ts";
import { ALREADY_SERVED } from "../spawn-keeper.ts";
import { Server } from "./server.ts";

const O_CLOEXEC = 0o2000000;

/**
 * Closes descriptors inherited from the parent, because commands would inherit them too (invariant 7). Node's own
 * descriptors are all close-on-exec, which can be read only on Linux.
 */
function closeInherited(): void {
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
    return true; // the descriptor of the directory listing, which is closed by now
  }
}

const [, , state = ""] = process.argv;

closeInherited();
process.title = `${PORTABLE_TITLE}${state}`;
process.umask(0o077);
process.on("SIGHUP", () => {});
const server = new Server(state);
process.on("SIGTERM", () => server.stop());
process.on("SIGINT", () => server.stop());

if (!(await server.start())) process.exit(ALREADY_SERVED);
process.stdout.write("ready\n");
