import { readFileSync } from "node:fs";
import { SallyportError } from "../core/error.ts";

/** The output is complete on disk, but this process has no file descriptor left to read it. */
export function outOfDescriptors(path: string): SallyportError {
  const message = `The file \`${path}\` cannot be read: this process has too many open files.`;
  return new SallyportError("ResourceLimitExceeded", message, [
    { action: "increase_limits", hint: "Raise the limit with `ulimit -n`, or follow fewer sessions at a time." },
    { action: "retry", hint: "Try again. No output is lost." },
  ]);
}

const CODES = new Set(["EMFILE", "ENFILE", "ENOMEM"]);

/** Whether this process is out of descriptors or memory. Such an error says nothing about the file it concerns. */
export function isFdExhaustion(error: unknown): boolean {
  return CODES.has((error as NodeJS.ErrnoException).code ?? "");
}

/** The content of a small file, or null if it cannot be read. Throws when descriptors are exhausted. */
export function readIfExists(path: string, encoding: "utf8" | "latin1" = "utf8"): string | null {
  try {
    return readFileSync(path, encoding);
  } catch (error) {
    if (isFdExhaustion(error)) throw error;
    return null;
  }
}

/** `keeper`: the subject of the message, such as "The keeper". */
export function keeperUnavailable(keeper: string, reason: string): SallyportError {
  return new SallyportError("KeeperUnavailable", `${keeper} could not be reached: ${reason}.`, [
    { action: "doctor", hint: "Run `sallyport doctor` to check the state folder and the keeper." },
    { action: "retry", hint: "Try again. A keeper is started on demand." },
  ]);
}
