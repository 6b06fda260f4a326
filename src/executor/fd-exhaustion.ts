import { readFileSync } from "node:fs";

const SHORTAGES = new Set(["EMFILE", "ENFILE", "ENOMEM"]);

/** This process has no descriptors or memory left: that a thing could not be looked at tells nothing about the thing. */
export function isFdExhaustion(error: unknown): boolean {
  return SHORTAGES.has((error as NodeJS.ErrnoException).code ?? "");
}

/** What a small file holds; null: there is none to be read. Throws where nobody can tell for now. */
export function readIfExists(path: string, encoding: "utf8" | "latin1" = "utf8"): string | null {
  try {
    return readFileSync(path, encoding);
  } catch (error) {
    if (isFdExhaustion(error)) throw error;
    return null;
  }
}
