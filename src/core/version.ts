import { readFileSync } from "node:fs";

/** The package's own version; package.json lies equally deep below src/ and dist/. */
export function packageVersion(): string {
  const file = new URL("../../package.json", import.meta.url);
  return (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
}
