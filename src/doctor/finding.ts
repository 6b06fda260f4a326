import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The result of one check. `warn` means that Sallyport works with restrictions, `fail` that it does not work. */
export interface Finding {
  name: string;
  status: "ok" | "warn" | "fail";
  message: string;
  /** How to solve the problem. Null when the status is `ok`. */
  fix: string | null;
}

export interface Machine {
  /** The state folder, which need not exist yet. */
  state: string;
  /** The folder below which the files of the machine are read and written. Default: the root directory. */
  root?: string;
}

export function machinePath({ root = "/" }: Machine, path: string): string {
  return join(root, path);
}

export function existsOn(machine: Machine, path: string): boolean {
  return existsSync(machinePath(machine, path));
}

/** Returns the content of a file of the machine without surrounding white space. Empty if it cannot be read. */
export function readMachineFile(machine: Machine, path: string): string {
  try {
    return readFileSync(machinePath(machine, path), "utf8").trim();
  } catch {
    return "";
  }
}

/** One check. It does not change the machine, apart from temporary files that it removes. */
export type Check = (machine: Machine) => Finding | Promise<Finding>;

export function ok(name: string, message: string): Finding {
  return { name, status: "ok", message, fix: null };
}

export function warn(name: string, message: string, fix: string): Finding {
  return { name, status: "warn", message, fix };
}

export function fail(name: string, message: string, fix: string): Finding {
  return { name, status: "fail", message, fix };
}
