import { readFileSync } from "node:fs";

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
