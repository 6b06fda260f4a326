/**
 * The record of what set-up has written, in the state folder. With it, `--remove` restores exactly what was there
 * before. It contains only the lines that were replaced, because configuration files of hosts can contain credentials.
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openStateFolder } from "../storage/state-folder.ts";
import type { Json } from "./edit/document.ts";
import { unusableFile } from "./errors.ts";
import type { Change, Mode, Scope } from "./hosts/host.ts";

export interface AppliedChange {
  change: Change;
  /** Whether the change was necessary. */
  applied: boolean;
  /** The value before. Missing when there was none. */
  previous?: Json;
  /** The number of keys of the path that existed before. */
  existing: number;
}

export interface FileRecord {
  /** The key of the file in `Host.files`. */
  file: string;
  path: string;
  existed: boolean;
  /** Folders that were created for the file. */
  folders: string[];
  /** The hash of the text that was written. While it matches, the replaced lines restore the text from before. */
  sha256: string;
  hunks: { line: number; removed: string[]; added: number }[];
  changes: AppliedChange[];
}

export interface SetupRecord {
  host: string;
  scope: Scope;
  /** The project. Null for a set-up of the user. */
  workspace: string | null;
  mode: Mode;
  files: FileRecord[];
}

const NAME = "hosts.json";

export function readRecords(state: string): SetupRecord[] {
  try {
    const { setups } = JSON.parse(readFileSync(join(state, NAME), "utf8")) as { setups: SetupRecord[] };
    return setups;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    const why = `the record of what was set up cannot be read (${(error as Error).message})`;
    throw unusableFile(
      join(state, NAME),
      why,
      "Restore the file, or delete it: `--remove` then takes back less exactly.",
    );
  }
}

/** Replaces the record of a host in a scope. Null removes it. */
export function writeRecord(
  state: string,
  key: Pick<SetupRecord, "host" | "scope" | "workspace">,
  record: SetupRecord | null,
): void {
  const others = readRecords(state).filter((each) => !isSame(each, key));
  const setups = record ? [...others, record] : others;
  const path = join(openStateFolder(state), NAME);
  if (setups.length === 0) {
    rmSync(path, { force: true });
    return;
  }
  const temporary = `${path}.${process.pid}.tmp`;
  writeFileSync(temporary, `${JSON.stringify({ version: 1, setups }, null, 1)}\n`, { mode: 0o600 });
  renameSync(temporary, path);
}

export function findRecord(records: readonly SetupRecord[], key: Pick<SetupRecord, "host" | "scope" | "workspace">) {
  return records.find((each) => isSame(each, key)) ?? null;
}

function isSame(one: Pick<SetupRecord, "host" | "scope" | "workspace">, other: typeof one): boolean {
  return one.host === other.host && one.scope === other.scope && one.workspace === other.workspace;
}
