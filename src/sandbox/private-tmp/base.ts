import { randomBytes } from "node:crypto";
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { isAbsolute, join } from "node:path";
import { callerTmpdir } from "../../core/caller.ts";
import { SallyportError } from "../../core/error.ts";
import { operatorStep } from "../../core/next-step.ts";

const PREFIX = "sallyport-";
/** A file with the path of the state folder. When that folder has been removed, the directories here can be too. */
const MARKER = ".sallyport-state";
/** The name of that file in the folders of earlier versions, which were in a folder with a predictable name. */
const OLD_MARKER = "state";
/** The file in the state folder with the path of its base folder. */
const REMEMBERED = "tmp-folder";

export function ownUid(): number {
  return process.getuid?.() ?? 0;
}

/**
 * Returns `TMPDIR`, or /tmp or /var/tmp if that is not the absolute path of a folder that exists. Minimal container images
 * have none of them.
 */
export function temporaryFolder(): string {
  for (const wanted of [callerTmpdir(), "/tmp", "/var/tmp"]) {
    try {
      if (isAbsolute(wanted) && statSync(wanted).isDirectory()) return realpathSync.native(wanted);
    } catch {
      // It does not exist, or a folder above it cannot be searched.
    }
  }
  throw new SallyportError("StateUnusable", "There is no folder for temporary files: /tmp does not exist.", [
    operatorStep("create_tmp", "Create it with `mkdir -m 1777 /tmp`, or set `TMPDIR` to an existing folder."),
  ]);
}

/**
 * Returns the folder for the private temporary directories of a state folder, which remembers it. Any user can create
 * files in /tmp, so the name is random: with a predictable one, another user could create the folder first.
 */
export function baseFolder(state: string): string {
  // Without a state folder nothing runs, and the name is only shown.
  if (!existsSync(state)) return unusedName();
  try {
    return claimBase(state);
  } catch {
    return unusedName(); // the disk is full or read-only; creating the directory reports it when a command is run
  }
}

function unusedName(): string {
  return join(temporaryFolder(), `${PREFIX}${randomBytes(4).toString("hex")}`);
}

function claimBase(state: string): string {
  for (;;) {
    const remembered = rememberedBase(state);
    if (remembered !== null && isOwnFolder(remembered)) return remembered;
    const made = mkdtempSync(join(temporaryFolder(), PREFIX));
    writeMarker(made, state);
    if (remember(join(state, REMEMBERED), made, remembered)) return made;
    rmSync(made, { recursive: true }); // another gateway was faster
  }
}

function rememberedBase(state: string): string | null {
  return readOrNull(join(state, REMEMBERED));
}

/** Replaces the content of a file that has the content `before`. Returns false if another process has changed it. */
function remember(file: string, path: string, before: string | null): boolean {
  const own = randomBytes(4).toString("hex");
  const [next, last] = [`${file}.${own}`, `${file}.${own}.old`];
  writeFileSync(next, path, { mode: 0o600 });
  try {
    if (before !== null) {
      renameSync(file, last);
      if (readOrNull(last) !== before) {
        linkSync(last, file);
        return false;
      }
    }
    linkSync(next, file);
    return true;
  } catch (error) {
    if (["EEXIST", "ENOENT"].includes((error as NodeJS.ErrnoException).code ?? "")) return false;
    throw error;
  } finally {
    rmSync(next, { force: true });
    rmSync(last, { force: true });
  }
}

/** Writes the marker atomically: another gateway would take a partial path for a state folder that was removed. */
export function writeMarker(base: string, state: string): void {
  const marker = join(base, MARKER);
  if (readOrNull(marker) === state) return;
  const own = `${marker}.${process.pid}`;
  writeFileSync(own, state, { mode: 0o600 });
  renameSync(own, marker);
}

export function isMarker(name: string): boolean {
  return name === OLD_MARKER || name.startsWith(MARKER);
}

function isOwnFolder(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found?.isDirectory() === true && found.uid === ownUid() && (found.mode & 0o022) === 0;
}

interface OwnBase {
  base: string;
  /** The state folder that it belongs to. */
  state: string;
  /** Whether new directories are created in it. */
  current: boolean;
}

/** Returns the base folders of this user, including those of earlier versions. */
export function ownBases(): OwnBase[] {
  const top = temporaryFolder();
  const found: OwnBase[] = [];
  const add = (base: string, marker: string): void => {
    const state = isOwnFolder(base) ? readOrNull(join(base, marker)) : null;
    if (state) found.push({ base, state, current: rememberedBase(state) === base });
  };
  for (const name of entriesOf(top)) if (name.startsWith(PREFIX)) add(join(top, name), MARKER);
  const old = join(top, `${PREFIX}${ownUid()}`);
  if (isOwnFolder(old)) for (const name of entriesOf(old)) add(join(old, name), OLD_MARKER);
  return found;
}

export function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function readOrNull(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return null;
  }
}
