import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";

/** A way to start a program; the first that works is taken. `note`: what is worth a word when it was this one. */
export interface Attempt {
  options: SpawnOptions;
  note: string | null;
}

/** Here another way would not help: it is the program, its arguments or the system that fail. */
const FINAL = new Set([
  "ENOENT",
  "EACCES",
  "ENOTDIR",
  "ELOOP",
  "ENOEXEC",
  "E2BIG",
  "EMFILE",
  "ENFILE",
  "EAGAIN",
  "ENOMEM",
]);

/**
 * In a process group of its own first, then without: some sandboxes forbid setsid, and a command that runs without a
 * group is better than none. On Windows a detached child would get a console window, and there are no groups.
 */
export function attempts(options: SpawnOptions, platform: NodeJS.Platform = process.platform): Attempt[] {
  const plain = { ...options, detached: false, windowsHide: true };
  if (platform === "win32") return [{ options: plain, note: null }];
  return [
    { options: { ...options, detached: true }, note: null },
    { options: plain, note: "no-group" },
  ];
}

export interface Spawned {
  child: ChildProcess;
  note: string | null;
  detached: boolean;
}

/** Rejects with the system's error. */
export async function spawnFirst(
  file: string,
  args: string[],
  ways: readonly Attempt[],
  start: typeof spawn = spawn,
): Promise<Spawned> {
  let failure: unknown = new Error("there is no way to start it");
  for (const { options, note } of ways) {
    try {
      const child = start(file, args, options);
      // Its end may come before anybody has turned to it: nothing is awaited once it runs.
      if (child.pid !== undefined) return { child, note, detached: options.detached === true };
      await new Promise((_, reject) => child.once("error", reject));
    } catch (error) {
      failure = error;
      if (FINAL.has((error as NodeJS.ErrnoException).code ?? "")) break;
    }
  }
  throw failure;
}
