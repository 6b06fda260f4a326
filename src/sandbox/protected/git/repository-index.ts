import { existsSync, lstatSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { sha256 } from "../../../storage/sha256.ts";
import { RepositoryScan } from "./find-repositories.ts";
import { gitDirectoriesIn, gitDirectoryOf } from "./git-directory.ts";
import { moveAway } from "./git-entries.ts";
import { inspectData, inspectRepository, type RepositoryFinding } from "./inspect-repository.ts";
import { readSmallFile } from "./read-small-file.ts";

/** How often a workspace is scanned for repositories that were created outside Sallyport. */
const RESCAN_MS = 60_000;
/** The age at which a scan does not wait for idle time. */
const OUTDATED_MS = 3_600_000;
/** The share of the time in which commands run, and of all time, by which scans may delay results. */
const DURATION_SHARE = 0.1;
const IDLE_SHARE = 0.01;
const MAX_IDLE_SLICE_MS = 10;
const MAX_SLICE_MS = 200;
const MIN_SLICE_MS = 0.3;
/** The time for which a scan in idle time may hold the event loop, and the pause between two such scans. */
const BACKGROUND_SLICE_MS = 4;
const BACKGROUND_PAUSE_MS = 1000;
/** The resolution of file timestamps, which can lag behind the clock by this much. */
const CLOCK_STEP_MS = 10;
const MAX_REMEMBERED = 1000;
const MAX_FILE_BYTES = 4 << 20;

/** The finding for an entry that a command created and that was renamed. */
export const MOVED_AWAY = "moved away";

/** The finding for a file that has further names outside the workspace. */
export const HARD_LINK = "hard link";

/** The finding for a workspace with too many folders or repositories. */
export const TRUNCATED = "not searched completely";

/** The part of an index that is kept in the state folder, where commands cannot change it. */
interface StoredIndex {
  workspace: string;
  scannedMs: number;
  /** The repositories at the last scan, without that of the workspace itself. */
  repositories: string[];
  /** The identities of git directories that commands created. */
  created: string[];
  /** The findings that a result has already named. */
  reported: string[];
  /** A file in the workspace that is a hard link to a file outside it, or null. */
  linkedFile: string | null;
  /** Whether the last scan did not search all folders. */
  isTruncated: boolean;
}

/**
 * The repositories in a workspace. Those that a person created are protected. Those that a command created are not, so
 * that the agent can configure and delete them. They are inspected instead, and results name settings that run
 * programs.
 */
export class RepositoryIndex {
  readonly #workspace: string;
  /** The `.git` of the workspace, which is always protected. */
  readonly #root: string;
  readonly #file: string;
  #stored: StoredIndex;
  #written = { text: "", scannedMs: 0 };
  #scan: RepositoryScan | null = null;
  #timer: NodeJS.Timeout | null = null;
  /** When the last command ended. */
  #lastEndMs = Number.NEGATIVE_INFINITY;
  /** The time that a scan may take after a command. Negative if the last one took longer than it had. */
  #creditMs = 0;
  /** The repositories that were found after the first scan and have not been inspected yet. */
  readonly #fresh = new Set<string>();
  /** Entries of git directories that must not exist. */
  #absent: readonly string[] = [];
  /** The intervals in which commands ran, as start and end. */
  #ran: [startMs: number, endMs: number][] = [];

  constructor(state: string, workspace: string) {
    this.#workspace = workspace;
    this.#root = join(workspace, ".git");
    this.#file = join(state, "repositories", `${sha256(workspace).slice(0, 24)}.json`);
    this.#stored = readIndex(this.#file, workspace);
  }

  /** Returns the repositories below the workspace to protect. Scans the workspace if that was not done recently. */
  repositories(): string[] {
    const age = Date.now() - this.#stored.scannedMs;
    if (age < 0 || age > OUTDATED_MS) this.#advance(Number.POSITIVE_INFINITY);
    else if (age > RESCAN_MS) this.#continueLater(0);
    return this.#stored.repositories.filter((path) => !this.isCreated(path));
  }

  /** Reports whether a command created a git directory or a `.git` file. */
  isCreated(path: string): boolean {
    return this.#stored.created.length > 0 && this.#stored.created.includes(identityOf(path)?.id ?? "");
  }

  /** Sets the entries of git directories that did not exist before the next command and must not appear. */
  expectAbsent(paths: readonly string[]): void {
    this.#absent = paths;
  }

  /**
   * Called when a command has ended. Returns findings in the repositories that commands created, each once. A scan of a
   * large workspace continues in idle time, so that a later result may have the finding.
   */
  afterCommand(startMs: number, endMs: number): RepositoryFinding[] {
    const moved = moveAway(this.#absent).map((file) => ({ file, what: MOVED_AWAY }));
    return [...moved, ...this.#scanAfterCommand(startMs, endMs)];
  }

  #scanAfterCommand(startMs: number, endMs: number): RepositoryFinding[] {
    this.#addInterval(startMs - CLOCK_STEP_MS, endMs + CLOCK_STEP_MS);
    const now = performance.now();
    // Commands that run at the same time share the credit of that time.
    const passed = now - this.#lastEndMs;
    const earned =
      DURATION_SHARE * Math.min(endMs - startMs, passed) + Math.min(MAX_IDLE_SLICE_MS, IDLE_SHARE * passed);
    this.#lastEndMs = now;
    this.#creditMs = Math.min(MAX_SLICE_MS, this.#creditMs + earned);
    if (this.#creditMs < MIN_SLICE_MS) {
      this.#continueLater(BACKGROUND_PAUSE_MS);
      return [];
    }
    this.#scan = null; // A new repository is usually near the workspace.
    this.#advance(this.#creditMs);
    this.#creditMs -= performance.now() - now;
    return this.#newFindings();
  }

  /** Adds an interval, or extends the last one: commands usually follow each other closely. */
  #addInterval(startMs: number, endMs: number): void {
    const last = this.#ran.at(-1);
    if (last && startMs >= last[0] && startMs <= last[1]) last[1] = Math.max(last[1], endMs);
    else this.#ran.push([startMs, endMs]);
    if (this.#ran.length > MAX_REMEMBERED) this.#ran.shift();
  }

  #advance(milliseconds: number): void {
    const isFirst = this.#scan === null;
    this.#scan ??= new RepositoryScan(this.#workspace);
    const scan = this.#scan;
    const before = scan.repositories.length;
    scan.advance(milliseconds);
    const found = scan.repositories.slice(before).filter((path) => path !== this.#root);
    this.#add(found, isFirst ? [this.#root, ...found] : found);
    if (scan.isDone) this.#finish(scan);
    else this.#continueLater(0);
    this.#write();
  }

  /** Adds repositories to the index, and determines which of them, and of the git directories in them, are new. */
  #add(found: readonly string[], inspected: readonly string[]): void {
    const { repositories, created, scannedMs } = this.#stored;
    const added = found.filter((path) => !repositories.includes(path));
    if (scannedMs > 0) for (const path of added) this.#fresh.add(path);
    const inside = this.#ran.length === 0 ? [] : inspected.flatMap((path) => [path, ...directoriesOf(path)]);
    const identities = inside.flatMap((path) => this.#createdIdentity(path) ?? []);
    this.#stored = {
      ...this.#stored,
      repositories: [...repositories, ...added],
      created: [...new Set([...created, ...identities])].slice(-MAX_REMEMBERED),
    };
  }

  #finish(scan: RepositoryScan): void {
    const { repositories, reported, scannedMs } = this.#stored;
    // What a person set up before the first command is not reported.
    const known = scannedMs === 0 ? this.#inspectRootData().map(keyOf) : [];
    this.#stored = {
      ...this.#stored,
      repositories: repositories.filter((path) => existsSync(path)),
      reported: [...reported, ...known],
      scannedMs: Date.now(),
      linkedFile: scan.linkedFile,
      isTruncated: scan.isTruncated,
    };
    this.#scan = null;
  }

  /** Inspects what commands can write in the workspace's own repository. */
  #inspectRootData(): RepositoryFinding[] {
    const directory = gitDirectoryOf(this.#root);
    if (directory === null) return [];
    const common = basename(dirname(directory)) === "worktrees" ? [dirname(dirname(directory))] : [];
    return [directory, ...common].flatMap(inspectData);
  }

  /** Returns the identity of a git directory that was created while a command ran. */
  #createdIdentity(path: string): string | null {
    const identity = identityOf(path);
    if (identity === null || identity.birthMs === 0) return null; // The file system does not record the time.
    return this.#ran.some(([start, end]) => identity.birthMs >= start && identity.birthMs <= end) ? identity.id : null;
  }

  #continueLater(pauseMs: number): void {
    if (this.#timer !== null) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#advance(BACKGROUND_SLICE_MS);
    }, pauseMs).unref();
  }

  #newFindings(): RepositoryFinding[] {
    const { reported, created, repositories } = this.#stored;
    const all = this.#inspectRootData();
    if (created.length > 0 || this.#fresh.size > 0) {
      for (const git of [this.#root, ...repositories]) {
        const isNew = this.#fresh.has(git) || this.isCreated(git);
        all.push(...inspectRepository(git, (directory) => isNew || this.isCreated(directory)));
      }
      this.#fresh.clear();
    }
    if (this.#stored.isTruncated) all.push({ file: this.#workspace, what: TRUNCATED });
    if (this.#stored.linkedFile !== null && !reported.some((key) => key.startsWith(HARD_LINK))) {
      all.push({ file: this.#stored.linkedFile, what: HARD_LINK });
    }
    const found = all.filter((finding) => !reported.includes(keyOf(finding)));
    if (found.length === 0) return [];
    const texts = [...new Set([...reported, ...found.map(keyOf)])];
    this.#stored = { ...this.#stored, reported: texts.slice(-MAX_REMEMBERED) };
    this.#write();
    return found;
  }

  /** Best effort: without the file, another process scans the workspace again. */
  #write(): void {
    const { scannedMs, ...rest } = this.#stored;
    const text = JSON.stringify(rest);
    const isSame = text === this.#written.text && scannedMs - this.#written.scannedMs < RESCAN_MS / 2;
    if (isSame || !existsSync(dirname(dirname(this.#file)))) return;
    try {
      mkdirSync(dirname(this.#file), { recursive: true, mode: 0o700 });
      const own = `${this.#file}.${process.pid}`;
      writeFileSync(own, JSON.stringify(this.#stored), { mode: 0o600 });
      renameSync(own, this.#file);
      this.#written = { text, scannedMs };
    } catch {
      // The state folder may be full or removed.
    }
  }
}

/** Identifies a finding, so that it is reported once. */
function keyOf({ file, what, version = "" }: RepositoryFinding): string {
  return `${what} ${sha256(JSON.stringify([file, what, version])).slice(0, 16)}`;
}

function directoriesOf(git: string): string[] {
  const directory = gitDirectoryOf(git);
  return directory === null ? [] : gitDirectoriesIn(directory).found.map(({ path }) => path);
}

function identityOf(path: string): { id: string; birthMs: number } | null {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false });
    return found ? { id: `${found.dev}:${found.ino}:${found.birthtimeMs}`, birthMs: found.birthtimeMs } : null;
  } catch {
    return null;
  }
}

function readIndex(file: string, workspace: string): StoredIndex {
  const empty = {
    workspace,
    scannedMs: 0,
    repositories: [],
    created: [],
    reported: [],
    linkedFile: null,
    isTruncated: false,
  };
  try {
    const stored = JSON.parse(readSmallFile(file, MAX_FILE_BYTES)?.text ?? "null") as StoredIndex | null;
    return stored?.workspace === workspace ? { ...empty, ...stored } : empty;
  } catch {
    return empty;
  }
}

/** The indexes of this process, by workspace and state folder. */
const indexes = new Map<string, Map<string, RepositoryIndex>>();

export function repositoryIndex(state: string, workspace: string): RepositoryIndex {
  const ofWorkspace = indexes.get(workspace) ?? new Map<string, RepositoryIndex>();
  indexes.set(workspace, ofWorkspace);
  const index = ofWorkspace.get(state) ?? new RepositoryIndex(state, workspace);
  ofWorkspace.set(state, index);
  return index;
}

/** Returns findings in the repositories of a workspace after a command that this process planned. */
export function findingsAfterCommand(workspace: string, startMs: number, endMs: number): RepositoryFinding[] {
  return [...(indexes.get(workspace)?.values() ?? [])].flatMap((index) => index.afterCommand(startMs, endMs));
}
