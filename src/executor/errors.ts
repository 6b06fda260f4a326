import { readFileSync } from "node:fs";
import { SallyportError } from "../core/error.ts";
import { operatorStep } from "../core/next-step.ts";

/**
 * Returns the error for a file that cannot be opened because this process has no free descriptor. The file itself is
 * intact.
 */
export function outOfDescriptors(path: string): SallyportError {
  const message = `The file \`${path}\` cannot be read: this process has too many open files.`;
  return new SallyportError("ResourceLimitExceeded", message, [
    operatorStep("increase_limits", "Raise the limit with `ulimit -n`, or follow fewer sessions at a time."),
    { action: "retry", hint: "Try again. No output is lost." },
  ]);
}

const CODES = new Set(["EMFILE", "ENFILE", "ENOMEM"]);

/** Reports whether an error means that file descriptors or memory ran out, rather than that the file does not exist. */
export function isFdExhaustion(error: unknown): boolean {
  return CODES.has((error as NodeJS.ErrnoException).code ?? "");
}

/** Returns the content of a small file, or null if it cannot be read. Throws if descriptors or memory ran out. */
export function readIfExists(path: string, encoding: "utf8" | "latin1" = "utf8"): string | null {
  try {
    return readFileSync(path, encoding);
  } catch (error) {
    if (isFdExhaustion(error)) throw error;
    return null;
  }
}

/** Returns the error for a keeper that cannot be started or reached. `keeper` is the subject, such as "The keeper". */
export function keeperUnavailable(keeper: string, reason: string): SallyportError {
  return new SallyportError("KeeperUnavailable", `${keeper} could not be reached: ${reason}.`, [
    operatorStep("doctor", "Run `sallyport doctor` to check the state folder and the keeper."),
    { action: "retry", hint: "Try again. A keeper is started on demand." },
  ]);
}
