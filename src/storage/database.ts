import { chmodSync, closeSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { uptimeMs } from "../core/clock.ts";
import { SallyportError } from "../core/error.ts";
import { operatorStep } from "../core/next-step.ts";
import { MIGRATIONS } from "./migrations.ts";
import { findWriteFailure, releaseIfAlmostFull, releasePart, type WriteFailure } from "./reserve.ts";

/** How long to wait for other gateways that write to the same file. */
const BUSY_TIMEOUT_MS = 10_000;

function unusable(path: string, message: string, hint: string, errcode?: number): SallyportError {
  const recovery = [
    { action: "fix_state", hint },
    operatorStep("other_state", "Or use another state folder with `--state DIR` or `SALLYPORT_STATE`."),
  ];
  return new SallyportError("StateUnusable", `\`${path}\`: ${message}.`, recovery, { errcode });
}

/** How often opening is tried on a full disk. Others may take what the reserve has freed. */
const OPEN_ATTEMPTS = 20;
const OPEN_AGAIN_MS = 10;

/**
 * Opens the database of a state folder and migrates it. Never recreates a database that it cannot read. On a full disk,
 * the reserve of the state folder makes room for the files that SQLite needs.
 */
export function openDatabase(path: string): DatabaseSync {
  for (let attempt = 1; ; attempt++) {
    try {
      releaseIfAlmostFull(dirname(path));
      return openOnce(path);
    } catch (error) {
      const failure = error instanceof SallyportError ? error : stateError(path, error);
      if (!isDiskFull(failure) || attempt === OPEN_ATTEMPTS) throw failure;
      // Without a reserve, others must make room, but the end of a process may be doing so.
      releasePart(dirname(path));
      pause(OPEN_AGAIN_MS);
    }
  }
}

function openOnce(path: string): DatabaseSync {
  let database: DatabaseSync | null = null;
  try {
    restrictAccess(path);
    // Not an import: without this module, an old version of Node would fail before it can report its version.
    const sqlite = process.getBuiltinModule("node:sqlite");
    database = new sqlite.DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
    // NORMAL loses nothing if this process crashes. A power failure may lose the last transactions, but not the file;
    // see `syncEveryCommit`.
    enableWal(database);
    database.exec("PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 4000;");
    migrate(database, path);
    return database;
  } catch (error) {
    database?.close();
    throw error;
  }
}

/** The databases whose commits survive a power failure. */
const synced = new WeakSet<DatabaseSync>();

/** Makes each later commit on this connection wait until it is on the disk, so that it survives a power failure. */
export function syncEveryCommit(database: DatabaseSync): void {
  if (synced.has(database) || database.isTransaction) return;
  database.exec("PRAGMA synchronous = FULL");
  synced.add(database);
}

/** Reports whether commits on this connection survive a power failure. */
export function syncsEveryCommit(database: DatabaseSync): boolean {
  return synced.has(database);
}

/** Runs `write`, whose commits, and all earlier ones, are on the disk when it returns. */
export function withFullSync(database: DatabaseSync, write: () => void): void {
  if (synced.has(database)) {
    write();
    return;
  }
  database.exec("PRAGMA synchronous = FULL");
  try {
    write();
  } finally {
    database.exec("PRAGMA synchronous = NORMAL");
  }
}

/**
 * Lets only the owner read the database; SQLite gives its other files the same mode. The file is never opened here if
 * it exists: closing it would release the locks of another connection in this process.
 */
function restrictAccess(path: string): void {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined) closeSync(openSync(path, "a", 0o600));
    else if ((found.mode & 0o077) !== 0 && found.uid === process.getuid?.()) chmodSync(path, 0o600);
  } catch {
    // SQLite reports why the file cannot be opened.
  }
}

const TRY_AGAIN_MS = 2;

/**
 * Enables WAL mode, retrying while the database is busy. Two gateways may open a new state folder at the same time, and
 * SQLite ignores the busy timeout while it changes the journal mode, to avoid a deadlock.
 */
function enableWal(database: DatabaseSync): void {
  const deadline = uptimeMs() + BUSY_TIMEOUT_MS;
  for (;;) {
    try {
      database.exec("PRAGMA journal_mode = WAL");
      return;
    } catch (error) {
      if (primaryCode(error) !== BUSY || uptimeMs() > deadline) throw error;
      pause(TRY_AGAIN_MS);
    }
  }
}

function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

interface SqliteError extends Error {
  errcode?: number;
}

const [BUSY, READ_ONLY, IO_ERROR, CORRUPT, FULL, CANNOT_OPEN, NOT_A_DATABASE] = [5, 8, 10, 11, 13, 14, 26];

/** Returns the primary result code, without the extended code in the upper bits. */
function primaryCode(error: unknown): number {
  return ((error as SqliteError).errcode ?? 0) & 0xff;
}

function isSqliteError(error: unknown): error is SqliteError {
  return error instanceof Error && "errcode" in error;
}

/**
 * Reports whether a SQLite error, or a `SallyportError` made from one, means that nothing can be stored until something
 * is removed: the disk is full, or has no inodes left, or a quota is exceeded.
 */
export function isDiskFull(error: unknown): boolean {
  return (error instanceof SallyportError ? error.details : (error as SqliteError)).errcode === FULL;
}

/** Converts a SQLite error to a `SallyportError` with recovery actions (invariant 8). */
export function stateError(path: string, cause: unknown): SallyportError {
  const error = cause as SqliteError;
  const code = primaryCode(error);
  if (code === CORRUPT || code === NOT_A_DATABASE) {
    const hint =
      "Restore the database from a backup, or move it away to start with an empty one. Session logs are in `sessions/`.";
    return unusable(path, `the database is damaged (${error.message})`, hint);
  }
  const failure = MAY_BE_FILE_SYSTEM.has(code) ? findWriteFailure(path) : null;
  if (failure !== null) return writeFailure(path, failure);
  if (code === READ_ONLY) return unusable(path, "the database is read-only", "Make the state folder writable.");
  if (code === FULL) return writeFailure(path, "disk");
  if (code === BUSY) {
    const hint = "Find the program that holds the lock with `fuser FILE`, then try again.";
    return unusable(path, `the database is locked by another program (${error.message})`, hint);
  }
  return unusable(path, error.message, "Check that the state folder exists, belongs to you and is writable.");
}

/** The result codes that SQLite may return when the file system cannot be written. */
const MAY_BE_FILE_SYSTEM: ReadonlySet<number> = new Set([READ_ONLY, IO_ERROR, FULL, CANNOT_OPEN]);

const MAKE_ROOM =
  "Remove sessions with `sallyport clean --keep 10` or `sallyport rm SESSION`, which work in this state, or other files.";
const WRITE_FAILURES: Record<WriteFailure, { message: string; hint: string }> = {
  disk: { message: "the disk is full", hint: `Free disk space. ${MAKE_ROOM}` },
  inodes: {
    message: "the file system has no inodes left, so no file can be created",
    hint: `Remove files, however small. ${MAKE_ROOM}`,
  },
  quota: {
    message: "your disk quota is exceeded",
    hint: `Free disk space, or have your quota raised (\`quota -s\` shows it). ${MAKE_ROOM}`,
  },
  "read-only": {
    message: "its file system is read-only",
    hint: "Find out why with `dmesg`: the kernel does this after disk errors. Then remount it with `mount -o remount,rw`.",
  },
};

/** Returns the error for a file system that cannot be written. */
export function writeFailure(path: string, failure: WriteFailure): SallyportError {
  const { message, hint } = WRITE_FAILURES[failure];
  return unusable(path, message, hint, failure === "read-only" ? READ_ONLY : FULL);
}

function version(database: DatabaseSync): number {
  return Number(database.prepare("PRAGMA user_version").get()?.user_version ?? 0);
}

function migrate(database: DatabaseSync, path: string): void {
  if (version(database) === MIGRATIONS.length) return;
  database.exec("BEGIN IMMEDIATE");
  try {
    const from = version(database); // Read again under the lock: another gateway may have migrated.
    if (from > MIGRATIONS.length) {
      const message = `the database was created by a newer version of Sallyport (schema ${from}, supported ${MIGRATIONS.length})`;
      throw unusable(path, message, "Upgrade Sallyport.");
    }
    for (const step of MIGRATIONS.slice(from)) database.exec(step);
    database.exec(`PRAGMA user_version = ${MIGRATIONS.length}`);
    database.exec("COMMIT");
  } catch (error) {
    database.exec("ROLLBACK");
    throw error;
  }
}

interface TransactionStatements {
  begin: StatementSync;
  commit: StatementSync;
}

/** Prepared once per database, because preparing takes longer than running them. */
const prepared = new WeakMap<DatabaseSync, TransactionStatements>();

function statementsOf(database: DatabaseSync): TransactionStatements {
  let frame = prepared.get(database);
  if (!frame) {
    // IMMEDIATE takes the write lock at the start, so that no transaction fails halfway because of another writer.
    frame = { begin: database.prepare("BEGIN IMMEDIATE"), commit: database.prepare("COMMIT") };
    prepared.set(database, frame);
  }
  return frame;
}

/** Runs `work` in a transaction. Joins the current transaction if there is one. */
export function inTransaction<T>(database: DatabaseSync, work: () => T): T {
  if (database.isTransaction) return work();
  try {
    const { begin, commit } = statementsOf(database);
    begin.run();
    const result = work();
    commit.run();
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    // A full disk may be detected only at the commit.
    throw isSqliteError(error) ? stateError(database.location() ?? "the database", error) : error;
  }
}
