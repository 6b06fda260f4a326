import { type SpawnOptions, spawn } from "node:child_process";

/** The exit code of a keeper that finds another keeper serving the same state folder. */
export const ALREADY_SERVED = 3;

/**
 * Starts a keeper, which outlives this process. It is spawned as a child so that it is reaped if it exits first.
 * Resolves when the keeper writes to stdout. If it exits before that, its stderr is the reason.
 */
export function spawnKeeper(
  argv: readonly [string, ...string[]],
  options: Pick<SpawnOptions, "cwd" | "env">,
  failure: (why: string) => Error,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const [program, ...args] = argv;
    const child = spawn(program, args, { ...options, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    // Handled before the pipes are used: without free descriptors there are none, and an unhandled error is fatal.
    child.once("error", (error) => reject(failure(error.message)));
    let stderr = "";
    child.stderr?.on("data", (chunk: Buffer) => {
      stderr += chunk.toString();
    });
    child.stdout?.once("data", () => {
      child.stdout?.destroy();
      child.stderr?.destroy();
      child.unref();
      resolve();
    });
    child.once("close", (code) => {
      if (code === ALREADY_SERVED) resolve();
      else reject(failure(stderr.trim() || `it exited with code ${code}`));
    });
  });
}
