import { createHash } from "node:crypto";
import { basename } from "node:path";
import { nameFrom } from "./subjects.ts";

/** A workspace's name on the workers: readable, and another for each folder of each gateway. */
export function workspaceName(gateway: string, folder: string): string {
  const hash = createHash("sha256").update(`${gateway}\0${folder}`).digest("hex").slice(0, 12);
  return `${nameFrom(basename(folder)).slice(0, 40)}-${hash}`;
}
