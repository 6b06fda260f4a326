import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { type Finding, ok, warn } from "./finding.ts";

/** Needed only to build the keeper, and named as its build names it. */
export function checkCompiler(): Finding {
  const found = findOnPath([process.env.CC || "cc"]);
  if (found) return ok("compiler", found);
  return warn(
    "compiler",
    "none found; the keeper cannot be rebuilt",
    "Install one: `apt install gcc libc6-dev`, `dnf install gcc` or `apk add build-base`.",
  );
}

export function findOnPath(names: string[]): string | null {
  const folders = (process.env.PATH ?? "").split(delimiter).filter(Boolean);
  const places = names.flatMap((name) => (name.includes("/") ? [name] : folders.map((folder) => join(folder, name))));
  return places.find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
