/**
 * Calls of agent hosts between their hook, which decides on a command, and the shell, which runs it. They are in the
 * state folder, which neither an agent's commands nor the text of a call can reach (invariant 7).
 */
import { createHash, randomBytes } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { SallyportError } from "../core/error.ts";

/** A command that a hook has let run. The shell runs it once, and nothing else. */
export interface HostCall {
  host: string;
  command: string;
  cwd: string;
  workspace: string;
  /** Whether the command may only read. */
  readOnly: boolean;
  /** Whether the working directory at its end is that of the host's next command. */
  keepsDirectory: boolean;
  /** The approval request that the host's user answers, and the environment that it is bound to. */
  asked: { approval: string; env: Record<string, string> } | null;
}

const ID = /^[0-9a-f]{32}$/;
/** How long a call can wait, for example for the host's user. */
const MAX_AGE_MS = 24 * 3600 * 1000;
const WORKSPACE = ".workspace";
/**
 * How many files are kept, and for how long, so that calls that never run do not fill the disk (invariant 6). Calls do not
 * count as workspaces: an agent could otherwise displace the workspace of its conversation with many calls, and then make
 * another folder its workspace (invariant 7).
 */
const KEPT = {
  calls: { most: 1000, forMs: MAX_AGE_MS },
  workspaces: { most: 10_000, forMs: 30 * MAX_AGE_MS },
};
/** How often old calls are removed: once in this number of calls. */
const CLEAN_EVERY = 50;

function folderOf(state: string): string {
  const folder = join(state, "hosts");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}

/** Saves a call and returns its ID, which cannot be guessed. */
export function saveCall(state: string, call: HostCall): string {
  const folder = folderOf(state);
  if ((randomBytes(1)[0] as number) <= 256 / CLEAN_EVERY) cleanCalls(folder);
  const id = randomBytes(16).toString("hex");
  writeFileSync(join(folder, `${id}.call`), JSON.stringify(call), { mode: 0o600, flag: "wx" });
  return id;
}

/**
 * Takes a call, so that it cannot run again. Throws CommandDenied when it is not known, too old, or has run. With
 * `session`, the call is that of a session that another process may have started.
 */
export function takeCall(state: string, id: string, session: string | null = null): HostCall {
  const from = session !== null && existsSync(claimedFile(state, id, session)) ? claimedFile(state, id, session) : null;
  const taken = callFile(state, id, "taken");
  try {
    return rename(from ?? callFile(state, id, "call"), taken);
  } finally {
    rmSync(taken, { force: true });
  }
}

/**
 * Claims a call for a session, so that only the process that runs it can take it. `release` returns the call when the
 * session has not been recorded, and `finish` removes it when the session has ended.
 */
export function claimCall(
  state: string,
  id: string,
  session: string,
): { call: HostCall; release: () => void; finish: () => void } {
  const file = callFile(state, id, "call");
  const claimed = claimedFile(state, id, session);
  const call = rename(file, claimed);
  return { call, release: () => renameSync(claimed, file), finish: () => rmSync(claimed, { force: true }) };
}

function claimedFile(state: string, id: string, session: string): string {
  return callFile(state, id, `${session}.claimed`);
}

function callFile(state: string, id: string, suffix: string): string {
  if (!ID.test(id)) throw unknownCall();
  return join(folderOf(state), `${id}.${suffix}`);
}

/** Renames the file of a call, and returns the call. */
function rename(from: string, taken: string): HostCall {
  try {
    // Of several processes, only one can rename the file.
    renameSync(from, taken);
    if (Date.now() - statSync(taken).mtimeMs > MAX_AGE_MS) throw unknownCall();
    return JSON.parse(readFileSync(taken, "utf8")) as HostCall;
  } catch (error) {
    if (error instanceof SallyportError || (error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    throw unknownCall();
  }
}

function unknownCall(): SallyportError {
  return new SallyportError("CommandDenied", "Denied: this call of the agent host is not known, or has already run.", [
    { action: "run_again", hint: "Send the command again." },
  ]);
}

/** Returns the file in which the shell leaves the working directory at the end of a call, for the host. */
export function directoryFileOf(state: string, id: string): string {
  return join(state, "hosts", `${id}.directory`);
}

/**
 * Returns the workspace of a conversation: that of its first call. A later call could come from a folder that the agent
 * has chosen.
 */
export function workspaceOf(
  state: string,
  { host, session }: { host: string; session: string },
  first: string,
): string {
  const name = createHash("sha256").update(`${host}\0${session}`).digest("hex").slice(0, 32);
  const file = join(folderOf(state), name + WORKSPACE);
  try {
    writeFileSync(file, first, { mode: 0o600, flag: "wx" });
    return first;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  const now = new Date();
  utimesSync(file, now, now); // a conversation in use is not among the oldest
  return readFileSync(file, "utf8");
}

/** Removes calls and workspaces that are too old, and the oldest of too many. Best effort: errors are ignored. */
function cleanCalls(folder: string): void {
  const names = readdirSync(folder);
  const isWorkspace = (name: string) => name.endsWith(WORKSPACE);
  cleanFiles(folder, names.filter(isWorkspace), KEPT.workspaces);
  cleanFiles(
    folder,
    names.filter((name) => !isWorkspace(name)),
    KEPT.calls,
  );
}

function cleanFiles(folder: string, names: string[], { most, forMs }: { most: number; forMs: number }): void {
  const files = names.flatMap((name) => {
    const path = join(folder, name);
    const status = statSync(path, { throwIfNoEntry: false });
    return status ? [{ path, mtimeMs: status.mtimeMs }] : [];
  });
  files.sort((a, b) => b.mtimeMs - a.mtimeMs);
  const old = files.filter(({ mtimeMs }, place) => place >= most || Date.now() - mtimeMs > forMs);
  for (const { path } of old) rmSync(path, { force: true });
}
