import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { pipeName } from "../session-owner.ts";

const HERE = dirname(fileURLToPath(import.meta.url));
/** The folders whose code the portable keeper runs. */
const FOLDERS = [HERE, join(HERE, ".."), join(HERE, "../native")];
let known: string | null = null;

/** A hash of what the portable keeper is made of: two versions never share one, as with the native keeper. */
export function buildId(): string {
  if (known !== null) return known;
  const hash = createHash("sha256");
  for (const folder of FOLDERS) {
    for (const name of readdirSync(folder).sort()) {
      if (/\.[jt]s$/.test(name) && !name.endsWith(".d.ts")) hash.update(name).update(readFileSync(join(folder, name)));
    }
  }
  known = hash.digest("hex").slice(0, 12);
  return known;
}

/** Where the portable keeper of a state folder is reached. */
export function doorPath(state: string, platform: NodeJS.Platform = process.platform): string {
  const path = join(state, `portable-${buildId()}.sock`);
  return platform === "win32" ? pipeName(path) : path;
}
