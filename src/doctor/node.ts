import { type Finding, ok } from "./finding.ts";

/** A Node that is too old never gets this far; which one it is still helps in a bug report. */
export function checkNode(): Finding {
  return ok("node", `${process.version}, ${process.execPath}`);
}
