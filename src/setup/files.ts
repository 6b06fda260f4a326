/** Reads and writes configuration files of hosts. */
import { createHash, randomBytes } from "node:crypto";
import {
  accessSync,
  chownSync,
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeSync,
} from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { isWithin, nearestReal } from "../sandbox/workspace.ts";
import { unusableFile } from "./errors.ts";
import type { HostFile, Scope } from "./hosts/host.ts";

/** Where the files of hosts are. */
export interface Places {
  home: string;
  workspace: string;
  /** The state folder. */
  state: string;
  env: NodeJS.ProcessEnv;
  platform: NodeJS.Platform;
}

/** Returns the path of a file of a host. Null when the host has no such file in this scope. */
export function locate({ user, project, state }: HostFile, scope: Scope, places: Places): string | null {
  const { home, workspace, env, platform } = places;
  if (state !== undefined) return join(places.state, state);
  if (scope === "project") {
    if (project === null) return null;
    return join(workspace, project.find((path) => existsSync(join(workspace, path))) ?? project[0]);
  }
  if (user === null) return null;
  const variable = user.variable && env[user.variable.name];
  const folder =
    variable && isAbsolute(variable)
      ? join(variable, user.variable?.below ?? "")
      : join(home, (platform === "darwin" ? user.macFolder : undefined) ?? user.folder);
  return join(folder, user.names.find((name) => existsSync(join(folder, name))) ?? user.names[0]);
}

export interface FileText {
  path: string;
  /** The path with links resolved: a configuration may be a link into a repository of such files. */
  real: string;
  /** Null when the file does not exist. */
  text: string | null;
}

/** Some hosts keep their history in the same file. */
const MAX_BYTES = 64 << 20;

/** Reads a file. In a project, which agents can write to, it must not be a link to a file outside of `within`. */
export function readText(path: string, within: string | null): FileText {
  const real = followLinks(path);
  if (within !== null && !isWithin(real, realpathSync(within))) {
    throw unusableFile(path, `it is a link to ${real}, outside of the project`, "Remove the link.");
  }
  let fd: number;
  try {
    // Non-blocking, so that a named pipe at this path does not block.
    fd = openSync(real, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return { path, real, text: null };
    throw unusableFile(path, `the file cannot be read (${code ?? message})`, "Check the permissions of the file.");
  }
  try {
    const status = fstatSync(fd);
    if (!status.isFile()) throw unusableFile(path, "this is not a regular file", "Move it away.");
    if (status.size > MAX_BYTES) throw unusableFile(path, "the file is larger than 64 MiB", "Shorten it.");
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(readFileSync(fd));
    return { path, real, text };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw unusableFile(path, "the file is not valid UTF-8", "Save it as UTF-8.");
  } finally {
    closeSync(fd);
  }
}

const MAX_LINKS = 40;

/** Resolves the links of a path, also those that point to a file that does not exist yet. */
function followLinks(path: string): string {
  let at = path;
  for (let hop = 0; hop < MAX_LINKS; hop++) {
    if (!lstatSync(at, { throwIfNoEntry: false })?.isSymbolicLink()) {
      // Any folder on the way may be a link, also where the last ones do not exist yet.
      const { real, missing } = nearestReal(at);
      return join(real, ...missing);
    }
    at = resolve(dirname(at), readlinkSync(at));
  }
  throw unusableFile(path, "it is a chain of symbolic links without an end", "Remove the links.");
}

/** Fails if the file cannot be replaced. Called for all files before the first one is written. */
export function assertWritable({ path, real }: FileText): void {
  const status = lstatSync(real, { throwIfNoEntry: false });
  try {
    if (status) {
      // Root may write to such a file; it is still not meant to be changed.
      if ((status.mode & 0o222) === 0) throw new Error("it is read-only");
      accessSync(real, constants.W_OK);
    }
    let folder = dirname(real);
    while (!existsSync(folder)) folder = dirname(folder);
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw unusableFile(path, `the file cannot be written (${code ?? message})`, "Check its permissions.");
  }
}

/**
 * Replaces a file atomically, and keeps its permissions and owner. Null removes it. Returns the folders that were
 * created.
 */
export function writeText(file: FileText, text: string | null, newMode: number): string[] {
  const { path, real } = file;
  const status = lstatSync(real, { throwIfNoEntry: false });
  const current = status ? readFileSync(real, "utf8") : null;
  // A running host may have written to its file since it was read.
  if (current !== file.text) {
    throw unusableFile(path, "the file has changed in the meantime", "Close the host and try again.");
  }
  try {
    if (text === null) {
      rmSync(real, { force: true });
      return [];
    }
    const folders = makeFolders(dirname(real));
    const temporary = `${real}.${randomBytes(6).toString("hex")}.tmp`;
    const fd = openSync(temporary, "wx", 0o600);
    try {
      try {
        writeSync(fd, text);
        fchmodSync(fd, status ? status.mode & 0o7777 : newMode);
        fsyncSync(fd);
      } finally {
        closeSync(fd);
      }
      if (status && status.uid !== process.getuid?.()) chownSync(temporary, status.uid, status.gid);
      renameSync(temporary, real);
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error;
    }
    return folders;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw unusableFile(path, `the file cannot be written (${code ?? message})`, "Check the permissions of its folder.");
  }
}

/** Creates a folder and its parents. Returns those that did not exist, the outermost first. */
function makeFolders(folder: string): string[] {
  if (existsSync(folder)) return [];
  const above = makeFolders(dirname(folder));
  mkdirSync(folder, { mode: 0o700 });
  return [...above, folder];
}

/** Removes folders that set-up created, if they are empty. */
export function removeFolders(folders: readonly string[]): void {
  for (const folder of folders.toSorted((one, other) => other.length - one.length)) {
    try {
      rmdirSync(folder);
    } catch {
      // The host has stored other files in it.
    }
  }
}

export function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
