import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { CleanReport, Retention } from "../contract/gateway.ts";
import { stillRunning } from "../present/session-errors.ts";
import { isDiskFull } from "../store/database.ts";
import type { SessionRow } from "../store/sessions.ts";
import type { Registry } from "./registry.ts";

export const DEFAULT_RETENTION: Retention = {
  maxAgeMs: 14 * 24 * 3600 * 1000,
  maxCount: 10_000,
  maxBytes: 10 * 1024 ** 3,
};
/** Many short-lived gateways share a state folder; one of them cleaning now and then is enough. */
const CLEAN_EVERY_MS = 15 * 60 * 1000;
const REFUSED: ReadonlySet<string> = new Set(["blocked", "denied", "pending"]);
const MOST_REFUSED = 1000;
/** What a session's folder takes besides its streams. */
const FOLDER_BYTES = 8192;

/** Removes a finished session's row, then its files: what a crash leaves in between is a stray folder. */
export function removeSession(registry: Registry, row: Pick<SessionRow, "id" | "name">): void {
  if (!forget(registry, row.id) && registry.store.get(row.id)) throw stillRunning(row.name);
}

/** False: it is running. On a full disk the files go first, to make room for the change of the row. */
function forget(registry: Registry, id: string): boolean {
  const removeFiles = () => registry.executor.remove(id);
  try {
    if (!registry.store.delete(id)) return false;
  } catch (error) {
    if (!isDiskFull(error) || !registry.store.isFinished(id)) throw error;
    removeFiles();
    return registry.store.delete(id);
  }
  removeFiles();
  return true;
}

/** Removes finished sessions beyond the limits, oldest first. Never a running one. */
export function clean(registry: Registry, retention: Retention, now = Date.now()): CleanReport {
  const report: CleanReport = { removed: [], freedBytes: 0 };
  let bytes = 0;
  let kept = 0;
  let refused = 0;
  for (const row of registry.store.finished()) {
    // A command may be megabytes long, and is kept whole even where it was refused.
    const size = row.bytes + row.words + FOLDER_BYTES;
    bytes += size;
    const tooOld = retention.maxAgeMs > 0 && now - (row.ended_ms ?? 0) > retention.maxAgeMs;
    // Refusals cost an agent nothing: any number of them must not push out what really ran.
    const tooMany = REFUSED.has(row.status)
      ? ++refused > MOST_REFUSED
      : retention.maxCount > 0 && ++kept > retention.maxCount;
    const tooBig = retention.maxBytes > 0 && bytes > retention.maxBytes;
    if (!tooOld && !tooMany && !tooBig) continue;
    if (!forget(registry, row.id)) continue;
    report.removed.push(row.id);
    report.freedBytes += row.bytes;
    bytes -= size;
  }
  registry.executor.removeStrays((id) => registry.store.get(id) !== null, now);
  return report;
}

/** Cleans if nobody has for a while. Nobody asked for it, so nobody is troubled when it does not work out this time. */
export function cleanIfDue(registry: Registry, state: string, retention: Retention): boolean {
  const stamp = join(state, "cleaned");
  try {
    const last = statSync(stamp, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (Date.now() - last < CLEAN_EVERY_MS) return false;
    writeFileSync(stamp, "", { mode: 0o600 });
    clean(registry, retention);
    return true;
  } catch {
    return false; // disk full or read-only, or the state folder was removed
  }
}
