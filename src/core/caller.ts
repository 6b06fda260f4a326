/**
 * The process that a request comes from. Usually this is the current process. The resident gateway answers for other
 * processes, so code that handles requests reads the environment, the working directory and the umask here.
 */
import { homedir, tmpdir, userInfo } from "node:os";
import { isAbsolute, resolve } from "node:path";

export interface Caller {
  readonly env: Readonly<Record<string, string>>;
  readonly folder: string;
  readonly umask: number;
  /** The PID of the caller's parent. */
  readonly parent: number;
}

let callerNow: () => Caller | undefined = () => undefined;

/** Sets the function that returns the caller of the current request, or undefined for this process. */
export function findCallersWith(find: () => Caller | undefined): void {
  callerNow = find;
}

/** Returns the caller if it is another process than this one. */
export function remoteCaller(): Caller | undefined {
  return callerNow();
}

export function callerEnv(): NodeJS.ProcessEnv {
  return callerNow()?.env ?? process.env;
}

export function callerFolder(): string {
  return callerNow()?.folder ?? process.cwd();
}

/** Resolves a path that the caller has given. */
export function callerPath(path: string): string {
  return resolve(callerFolder(), path);
}

export function callerUmask(): number {
  return callerNow()?.umask ?? process.umask();
}

export function callerParent(): number {
  return callerNow()?.parent ?? process.ppid;
}

/**
 * Returns the caller's home directory. A relative `HOME` would mean another folder for each working directory, such as the
 * workspace, so the user's home directory is used instead.
 */
export function callerHome(): string {
  const caller = callerNow();
  const home = caller ? caller.env.HOME : homedir();
  return home && isAbsolute(home) ? home : userInfo().homedir;
}

/** Returns the caller's directory for temporary files as `os.tmpdir()` does. */
export function callerTmpdir(): string {
  const caller = callerNow();
  if (!caller) return tmpdir();
  const { TMPDIR, TMP, TEMP } = caller.env;
  const folder = TMPDIR || TMP || TEMP || "/tmp";
  return folder.length > 1 && folder.endsWith("/") ? folder.slice(0, -1) : folder;
}
