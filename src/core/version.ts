import { readFileSync } from "node:fs";

/** Returns the version of the package. The relative path to package.json is the same from src/ and dist/. */
export function packageVersion(): string {
  const file = new URL("../../package.json", import.meta.url);
  return (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
}
