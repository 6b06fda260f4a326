import type { PackageIndexes } from "./debian-package.ts";

/** Where a command was to run: what its name would have been looked up in. */
export interface Place {
  cwd: string;
  path: string;
  /** Of the system; others in tests. */
  indexes?: PackageIndexes;
  mountinfo?: string;
}
