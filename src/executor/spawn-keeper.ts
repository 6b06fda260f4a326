import { type SpawnOptions, spawn } from "node:child_process";

/** What a keeper ends with that found another at work for the same state folder. */
const ALREADY_SERVED = 3;

/**
 * Starts a keeper as a child of ours, so that it is reaped if it ends before we do; it outlives us otherwise. It has come
 * up when it says its first word. What it says on stderr before is why it did not.
 */
export function spawnKeeper(
  argv: readonly [string, ...string[]],
  options: Pick<SpawnOptions, "cwd" | "env">,
  failure: (why: string) => Error,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const [program, ...args] = argv;
    const child = spawn(program, args, {
      ...options,
      detached: true,
      windowsHide: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    // First of all: without a descriptor left there are no pipes either, and an error nobody hears ends the process.
    child.once("error", (error) => reject(failure(error.message)));
    let complaint = "";
    child.stderr?.on("data", (chunk: Buffer) => {
      complaint += chunk.toString();
    });
    child.stdout?.once("data", () => {
      child.stdout?.destroy();
      child.stderr?.destroy();
      child.unref();
      resolve();
    });
    child.once("close", (code) => {
      if (code === ALREADY_SERVED) resolve();
      else reject(failure(complaint.trim() || `it ended with code ${code}`));
    });
  });
}
