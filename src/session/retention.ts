import { closeSync, constants, lstatSync, openSync, readdirSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import { isOverdue } from "../core/clock.ts";
import type { CleanReport, Retention } from "../core/gateway.ts";
import { isId } from "../core/id.ts";
import { isDiskFull } from "../storage/database.ts";
import type { FinishedRow, SessionRow } from "../storage/sessions.ts";
import { stillRunning } from "./errors.ts";
import type { Registry, UnrecordedEnd } from "./registry.ts";

/** The interval between automatic cleanups, across all gateways of a state folder. */
const CLEAN_EVERY_MS = 15 * 60 * 1000;
const REFUSED: ReadonlySet<string> = new Set(["blocked", "denied", "pending"]);
const MOST_REFUSED = 1000;
/** The estimated size of a session folder without its streams. */
const FOLDER_BYTES = 8192;
/** How long cleaning waits for the space of removed files to become available. */
const ROOM_WITHIN_MS = 5000;
const ROOM_EVERY_MS = 20;
/** The number of sessions removed before yielding to the event loop. */
const AT_ONCE = 50;

type Progress = (done: number, total: number) => void;

/**
 * Removes a finished session's row, then its files. A crash in between leaves a stray folder, which cleaning removes.
 * Throws `StillRunning`, which refers to the session as `label`.
 */
export async function removeSession(registry: Registry, { id }: Pick<SessionRow, "id">, label: string): Promise<void> {
  const row = registry.store.get(id);
  const doomed = (row && registry.unrecordedEnds([row])[0]) ?? { id };
  const gone = removeOne(registry, doomed);
  if (gone === "later") await deleteRows(registry, [doomed]);
  if (gone !== "gone" && registry.store.get(id)) throw stillRunning(label);
}

/**
 * Removes one session. On a full disk the files are removed first, to make space for the database write, and the row is
 * deleted later. A session whose end is not in the table keeps its exit record until then, so that it cannot be
 * mistaken for one that never ran (invariant 4).
 */
function removeOne(registry: Registry, session: RemovalTarget): "gone" | "live" | "later" {
  const { id, mark } = session;
  const log = registry.store.get(id)?.log_file ?? null;
  if (mark) {
    registry.executor.removeOutput(id);
    removeExecLog(log, id);
    return "later";
  }
  try {
    if (!registry.store.delete(id)) return "live";
    removeFiles(registry, id, log);
    return "gone";
  } catch (error) {
    if (!isDiskFull(error) || !registry.store.isFinished(id)) throw error;
    removeFiles(registry, id, log);
    return "later";
  }
}

function removeFiles(registry: Registry, id: string, log: string | null): void {
  registry.executor.remove(id);
  removeExecLog(log, id);
}

/** The finished sessions of one agent that a cleanup removed. */
export interface Removal {
  agent: string;
  sessions: string[];
  freedBytes: number;
}

type OnRemoved = (removals: Removal[]) => void;

/** Removes finished sessions that exceed the limits, oldest first. Yields to the event loop regularly. */
export async function clean(
  registry: Registry,
  retention: Retention,
  { onRemoved, onProgress }: { onRemoved: OnRemoved; onProgress?: Progress | undefined },
): Promise<CleanReport> {
  const sweeping = sweep(registry, retention);
  let step = sweeping.next();
  for (; !step.done; step = sweeping.next()) {
    const { done, total } = step.value;
    if (done % AT_ONCE !== 0) continue;
    onProgress?.(done, total);
    await setImmediate();
  }
  const { later, gone } = step.value;
  await deleteRows(registry, later);
  gone.push(...later.filter(({ id }) => !registry.store.get(id)));
  onRemoved(removalsOf(gone));
  return { removed: gone.map(({ id }) => id), freedBytes: gone.reduce((sum, { bytes }) => sum + bytes, 0) };
}

function removalsOf(rows: FinishedRow[]): Removal[] {
  const removals = new Map<string, Removal>();
  for (const { agent, id, bytes } of rows) {
    const removal = removals.get(agent) ?? { agent, sessions: [], freedBytes: 0 };
    removal.sessions.push(id);
    removal.freedBytes += bytes;
    removals.set(agent, removal);
  }
  return [...removals.values()];
}

/** Deletes rows, retrying while the disk is full: a keeper that is exiting may still hold removed files open. */
async function deleteRows(registry: Registry, rows: RemovalTarget[]): Promise<void> {
  const until = performance.now() + ROOM_WITHIN_MS;
  for (const row of rows) while (!deleteRow(registry, row, performance.now() < until)) await sleep(ROOM_EVERY_MS);
}

/** Deletes one row. Returns false when the disk is still full and `patient` allows another attempt. */
function deleteRow(registry: Registry, { id, mark }: RemovalTarget, patient: boolean): boolean {
  try {
    mark?.();
    // Another gateway may have found that processes of the session are still running; it is kept in that case.
    if (registry.store.delete(id) || !registry.store.get(id)) registry.executor.remove(id);
    return true;
  } catch (error) {
    if (patient && isDiskFull(error)) return false;
    throw error;
  }
}

/** A session to remove. `mark` is set when its end is not in the table yet. */
type RemovalTarget = Pick<UnrecordedEnd, "id"> & Partial<Pick<UnrecordedEnd, "mark">>;

interface Swept {
  gone: FinishedRow[];
  later: (FinishedRow & RemovalTarget)[];
}

/** Removes sessions one at a time, so that the caller decides when to yield. */
function* sweep(registry: Registry, retention: Retention): Generator<{ done: number; total: number }, Swept> {
  const now = Date.now();
  const swept: Swept = { gone: [], later: [] };
  const unmarked: (FinishedRow & RemovalTarget)[] = registry.unrecordedEnds(registry.store.live());
  const ended = unmarked.concat(registry.store.finished());
  const rows = overLimits(ended.sort(newestFirst), retention, now);
  for (const [at, row] of rows.entries()) {
    const gone = removeOne(registry, row);
    if (gone === "gone") swept.gone.push(row);
    else if (gone === "later") swept.later.push(row);
    yield { done: at + 1, total: rows.length };
  }
  registry.executor.removeStrays((id) => registry.store.get(id) !== null, now);
  return swept;
}

function newestFirst(one: FinishedRow, other: FinishedRow): number {
  return one.id < other.id ? 1 : -1; // IDs start with their creation time.
}

/** The finished sessions of one agent that are kept, newest first. */
interface KeptRows {
  rows: FinishedRow[];
  bytes: number;
  ran: number;
  refused: number;
}

/**
 * Selects the rows that exceed the age, count or size limits. `rows` must be ordered newest first. Each agent has a
 * count of its own, and space is taken from the agent that uses most, so that the sessions of one agent do not displace
 * those of others (invariant 6).
 */
function overLimits(rows: FinishedRow[], { maxAgeMs, maxCount, maxBytes }: Retention, now: number): FinishedRow[] {
  const over: FinishedRow[] = [];
  const agents = new Map<string, KeptRows>();
  for (const row of rows) {
    const kept = agents.get(row.agent) ?? { rows: [], bytes: 0, ran: 0, refused: 0 };
    agents.set(row.agent, kept);
    const tooOld = maxAgeMs > 0 && now - (row.ended_ms ?? 0) > maxAgeMs;
    // Refusals are cheap to produce, so they have a separate limit and cannot displace sessions that ran.
    const tooMany = REFUSED.has(row.status) ? ++kept.refused > MOST_REFUSED : maxCount > 0 && ++kept.ran > maxCount;
    if (tooOld || tooMany) over.push(row);
    else {
      kept.rows.push(row);
      kept.bytes += sizeOf(row);
    }
  }
  return maxBytes > 0 ? over.concat(overSize([...agents.values()], maxBytes)) : over;
}

function overSize(agents: KeptRows[], maxBytes: number): FinishedRow[] {
  const over: FinishedRow[] = [];
  let bytes = agents.reduce((sum, kept) => sum + kept.bytes, 0);
  while (bytes > maxBytes) {
    const largest = agents.reduce((one, other) => (other.bytes > one.bytes ? other : one));
    const oldest = largest.rows.pop() as FinishedRow;
    largest.bytes -= sizeOf(oldest);
    bytes -= sizeOf(oldest);
    over.push(oldest);
  }
  return over;
}

/** The command text may be megabytes long, and is stored in full even if the command was refused. */
function sizeOf({ bytes, textBytes }: FinishedRow): number {
  return bytes + textBytes + FOLDER_BYTES;
}

/**
 * Removes sessions that exceed the limits, unless a gateway has done so recently. Errors are ignored. Returns true if a
 * cleanup was completed.
 */
export function cleanIfDue(registry: Registry, state: string, retention: Retention, onRemoved: OnRemoved): boolean {
  const stamp = join(state, "cleaned");
  try {
    const last = statSync(stamp, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (!isOverdue(last, CLEAN_EVERY_MS)) return false;
    writeFileSync(stamp, "", { mode: 0o600 });
    const sweeping = sweep(registry, retention);
    let step = sweeping.next();
    while (!step.done) step = sweeping.next();
    const { gone, later } = step.value;
    for (const row of later) if (deleteRow(registry, row, true)) gone.push(row);
    onRemoved(removalsOf(gone));
    return true;
  } catch {
    return false; // The disk is full or read-only, or the state folder was removed.
  }
}

/** The folder in the workspace with the exec toolset's plain logs, which are named after session IDs. */
export const EXEC_LOG_FOLDER = ".tmp/exec";

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const SUFFIX = ".log";

/**
 * Removes logs older than `maxAgeMs` whose sessions have ended. Each folder is opened through its parent's descriptor
 * without following symbolic links, so that a link planted by an agent cannot redirect the removal.
 */
export function cleanExecLogs(workspace: string, maxAgeMs: number, isLive: (id: string) => boolean): number {
  const folder = openExecLogFolder(workspace);
  if (folder === null) return 0;
  try {
    const place = `/proc/self/fd/${folder}`;
    const old = readdirSync(place).filter((name) => isExpiredLog(place, name, Date.now() - maxAgeMs, isLive));
    for (const name of old) unlinkSync(`${place}/${name}`);
    return old.length;
  } finally {
    closeSync(folder);
  }
}

function isExpiredLog(place: string, name: string, beforeMs: number, isLive: (id: string) => boolean): boolean {
  const id = name.slice(0, -SUFFIX.length);
  if (!name.endsWith(SUFFIX) || !isId(id)) return false;
  const stat = lstatSync(`${place}/${name}`, { throwIfNoEntry: false });
  return stat?.isFile() === true && stat.mtimeMs < beforeMs && !isLive(id);
}

/** Removes the plain log of a session if the exec toolset chose its path. A path that the agent chose is the agent's. */
function removeExecLog(path: string | null, id: string): void {
  const suffix = `/${EXEC_LOG_FOLDER}/${id}${SUFFIX}`;
  const folder = path?.endsWith(suffix) ? openExecLogFolder(path.slice(0, -suffix.length)) : null;
  if (folder === null) return;
  try {
    unlinkSync(`/proc/self/fd/${folder}/${id}${SUFFIX}`);
  } catch {
    // It was removed before, or the agent replaced it with a folder.
  } finally {
    closeSync(folder);
  }
}

/** Returns a descriptor of the log folder, or null when it does not exist. */
function openExecLogFolder(workspace: string): number | null {
  let at = -1;
  try {
    at = openSync(workspace, FOLDER);
    for (const name of EXEC_LOG_FOLDER.split("/")) {
      const next = openSync(`/proc/self/fd/${at}/${name}`, FOLDER);
      closeSync(at);
      at = next;
    }
    return at;
  } catch {
    if (at >= 0) closeSync(at);
    return null;
  }
}
