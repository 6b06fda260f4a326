import { closeSync, openSync } from "node:fs";
import { basename, dirname } from "node:path";

/** A socket address holds 107 bytes (103 on macOS). */
const LENGTH_MAX = 100;

/** An address for a socket's path that may be too long for one. It is valid until it is closed. */
export function socketAddress(path: string): { address: string; close(): void } {
  if (process.platform !== "linux" || Buffer.byteLength(path) <= LENGTH_MAX) return { address: path, close: () => {} };
  const folder = openSync(dirname(path), "r");
  return { address: `/proc/self/fd/${folder}/${basename(path)}`, close: () => closeSync(folder) };
}
