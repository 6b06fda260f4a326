import { ftruncateSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { KEEPER_FOLDERS } from "../../executor/native/zygote.ts";
import { defaultState } from "../../storage/state-folder.ts";
import { type ResidentOptions, ResidentServer } from "./server.ts";

const IDLE_MS = 10 * 60_000;
/** The descriptor of the lock that the client took for this process. It is released when this process exits. */
const LOCK_FD = 3;

/** Serves native clients until this process has been idle for ten minutes. Only the native client calls it. */
export async function startResident(
  build: string,
  checkpoint: ResidentOptions["checkpoint"] = () => {},
): Promise<void> {
  const idleMs = Number(process.env.SALLYPORT_RESIDENT_IDLE) || IDLE_MS;
  const isReplaced = () => !KEEPER_FOLDERS.some((folder) => readId(folder) === build);
  process.title = "sallyport: resident gateway";
  const server = await ResidentServer.open({ state: defaultState(), build, isReplaced, idleMs, checkpoint });
  // A file with content means that the last process failed to start, so clients wait before they start another one.
  ftruncateSync(LOCK_FD);
  const stopping = new Promise<void>((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.once(signal, () => resolve());
  });
  await Promise.race([server.over, stopping]);
  await server.close();
  process.exit(0);
}

function readId(folder: string): string | null {
  try {
    return readFileSync(join(folder, "client.id"), "utf8").trim();
  } catch {
    return null;
  }
}
