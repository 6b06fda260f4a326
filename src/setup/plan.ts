/** Plans what a set-up, or its removal, writes; nothing is written before the plan is complete. */
import { realpathSync } from "node:fs";
import { dirname } from "node:path";
import { WRITTEN_BY } from "../hosts/hooks/index.ts";
import { isShellShim } from "../hosts/own-shell.ts";
import { applyChanges, hunkRecord, isDone, isSatisfied, takeBack } from "./changes.ts";
import { openDocument } from "./edit/document.ts";
import { FormatError } from "./edit/format-error.ts";
import { inFile, unusableFile } from "./errors.ts";
import {
  assertWritable,
  type FileText,
  locate,
  type Places,
  readText,
  removeFolders,
  sha256,
  writeText,
} from "./files.ts";
import {
  type Change,
  entryPath,
  type Host,
  type Mode,
  type Scope,
  type ServerCommand,
  SHELL_FILE,
} from "./hosts/host.ts";
import { type FileRecord, findRecord, readRecords, type SetupRecord, writeRecord } from "./record.ts";
import { changesOf } from "./wanted-changes.ts";

/** A file that changes. */
export interface FilePlan extends FileText {
  file: string;
  /** The new text. Null when the file is removed. */
  after: string | null;
  /** The new record. Null when nothing of ours is left in the file. */
  record: FileRecord | null;
}

export interface Plan {
  host: Host;
  scope: Scope;
  workspace: string | null;
  mode: Mode;
  state: string;
  files: FilePlan[];
  /** Whether an earlier set-up was recorded. */
  recorded: boolean;
}

export interface PlanOptions {
  host: Host;
  scope: Scope;
  mode: Mode;
  places: Places;
}

function keyOf({ host, scope, places }: PlanOptions) {
  return { host: host.name, scope, workspace: scope === "project" ? realpathSync(places.workspace) : null };
}

function recordOf(options: PlanOptions): SetupRecord | null {
  return findRecord(readRecords(options.places.state), keyOf(options));
}

/** Returns the mode of an earlier set-up. Null when there is none. */
export function recordedMode(host: Host, scope: Scope, places: Places): Mode | null {
  return recordOf({ host, scope, mode: "mcp", places })?.mode ?? null;
}

/** Returns the path of a file of the host. Throws when the host reads no such file in this scope. */
function pathOf(file: string, { host, scope, places }: PlanOptions): string {
  const hostFile = host.files[file];
  const path = hostFile ? locate(hostFile, scope, places) : null;
  if (path === null) throw new Error(`${host.title} has no file ${file} in the scope ${scope}`);
  return path;
}

function readFile(path: string, { scope, places }: PlanOptions): FileText {
  return readText(path, scope === "project" ? places.workspace : null);
}

export function planSetup(options: PlanOptions, server: ServerCommand): Plan {
  const { host, scope, mode } = options;
  const { state } = options.places;
  const earlier = recordOf(options);
  const wanted = changesOf(host, server, scope, mode, options.places);
  const files = [...wanted].map(([file, changes]) => planFile(file, changes, earlier, options));
  // A set-up in another mode has changed other files.
  const obsolete = earlier?.files.filter(({ file }) => !wanted.has(file)) ?? [];
  files.push(...obsolete.map((record) => planFileRemoval(record, options)));
  return { host, scope, mode, state, workspace: keyOf(options).workspace, files, recorded: earlier !== null };
}

function planFile(file: string, changes: Change[], earlier: SetupRecord | null, options: PlanOptions): FilePlan {
  const { format } = options.host.files[file] ?? options.host.files.server;
  const record = earlier?.files.find((each) => each.file === file) ?? null;
  const current = readFile(record?.path ?? pathOf(file, options), options);
  const { path, text } = current;
  try {
    const isUnchanged =
      !record || JSON.stringify(record.changes.map(({ change }) => change)) === JSON.stringify(changes);
    if (text !== null && isUnchanged && isSatisfied(openDocument(format, text), changes)) {
      return { ...current, file, after: text, record };
    }
    const before = text !== null && record ? takeBack(format, text, record) : text;
    if (format === "text" && before !== null && !isOwnText(before)) throw foreignFile(path, options);
    const { text: after, applied } = applyChanges(format, before ?? "", changes);
    const written: FileRecord = {
      file,
      path,
      // A file that belongs to us as a whole replaces an earlier one of ours.
      existed: before !== null && format !== "text",
      folders: record?.folders ?? [],
      sha256: sha256(after),
      hunks: hunkRecord(before ?? "", after),
      changes: applied,
    };
    return { ...current, file, after, record: written };
  } catch (error) {
    throw format === "text" && error instanceof FormatError ? editedFile(path) : inFile(path, error);
  }
}

function editedFile(path: string): Error {
  return unusableFile(path, "the file was edited after `sallyport setup` wrote it", "Delete it and try again.");
}

/** Reports whether a file without structure belongs to us as a whole. */
function isOwnText(text: string): boolean {
  return text.includes(WRITTEN_BY) || isShellShim(text);
}

function foreignFile(path: string, { host, mode }: PlanOptions): Error {
  return unusableFile(
    path,
    "the file exists, and `sallyport setup` did not write it",
    `Move it away and try again, or add to it what \`sallyport setup ${host.name} --mode ${mode} --print\` prints.`,
  );
}

/** Plans the removal. Without a record, what a set-up writes is removed where it is found. */
export function planRemoval(options: PlanOptions, server: ServerCommand): Plan {
  const { host, scope, mode } = options;
  const { state } = options.places;
  const earlier = recordOf(options);
  const files = earlier
    ? earlier.files.map((record) => planFileRemoval(record, options))
    : mode !== "mcp" || hasEntry(options)
      ? [...changesOf(host, server, scope, mode, options.places)].map(([file, changes]) =>
          planUnrecorded(file, changes, options),
        )
      : [];
  return { host, scope, mode, state, workspace: keyOf(options).workspace, files, recorded: earlier !== null };
}

/** Reports whether the file of servers has our entry. Without it, other values in the files are the user's own. */
function hasEntry(options: PlanOptions): boolean {
  const { path, text } = readFile(pathOf("server", options), options);
  try {
    return (
      text !== null && openDocument(options.host.files.server.format, text).get(entryPath(options.host)) !== undefined
    );
  } catch (error) {
    throw inFile(path, error);
  }
}

function planFileRemoval(record: FileRecord, options: PlanOptions): FilePlan {
  const { format } = options.host.files[record.file] ?? options.host.files.server;
  const current = readFile(record.path, options);
  try {
    const after = current.text === null ? null : takeBack(format, current.text, record);
    return { ...current, file: record.file, after, record: null };
  } catch (error) {
    if (format === "text" && error instanceof FormatError) throw editedFile(record.path);
    throw inFile(record.path, error);
  }
}

function planUnrecorded(file: string, changes: Change[], options: PlanOptions): FilePlan {
  const { host } = options;
  const { format } = host.files[file] ?? host.files.server;
  const current = readFile(pathOf(file, options), options);
  if (current.text === null) return { ...current, file, after: null, record: null };
  if (format === "text")
    return { ...current, file, after: isOwnText(current.text) ? null : current.text, record: null };
  try {
    const document = openDocument(format, current.text);
    const entry = entryPath(host);
    for (const change of changes.toReversed()) {
      const isEntry = JSON.stringify(change.path) === JSON.stringify(entry);
      if (isEntry) document.remove(entry);
      else if (change.kind === "include") document.exclude(change.path, change.value);
      else if (change.kind === "set" && isDone(document, change)) document.remove(change.path);
    }
    return { ...current, file, after: document.text, record: null };
  } catch (error) {
    throw inFile(current.path, error);
  }
}

export function changedFiles({ files }: Plan): FilePlan[] {
  return files.filter(({ text, after }) => text !== after);
}

/** Writes the files and the record. */
export function carryOut(plan: Plan): void {
  const { host, scope, workspace, mode, state } = plan;
  const changed = changedFiles(plan);
  for (const file of changed) assertWritable(file);
  const earlier = findRecord(readRecords(state), { host: host.name, scope, workspace });
  const newMode = scope === "user" ? 0o600 : 0o644;
  for (const file of changed) {
    const isProgram = host.files[file.file]?.executable === true;
    const folders = writeText(file, file.after, isProgram ? newMode | ((newMode & 0o444) >> 2) : newMode);
    if (file.record) file.record.folders = [...file.record.folders, ...folders];
  }
  const kept = plan.files.flatMap(({ record }) => record?.folders ?? []);
  const made = earlier?.files.flatMap(({ folders }) => folders) ?? [];
  // The folder of all shells may have been created for another host.
  const ofShell = changed.flatMap(({ file, after, path }) =>
    file === SHELL_FILE && after === null ? [dirname(path), dirname(dirname(path))] : [],
  );
  removeFolders([...made.filter((folder) => !kept.includes(folder)), ...ofShell]);
  const records = plan.files.flatMap(({ record }) => record ?? []);
  const isSetUp = records.length > 0;
  const key = { host: host.name, scope, workspace };
  if (isSetUp || earlier) writeRecord(state, key, isSetUp ? { ...key, mode, files: records } : null);
}

/** Throws unless the host can be set up in this scope. */
export function assertScope({ title, files, hook }: Host, scope: Scope, mode: Mode): void {
  if (mode === "shell" && scope === "project") {
    // Agents can write to a project, also to the setting that names the shell.
    throw unusableFile(title, "with `--mode shell`, it can be set up for the user only", "Use `--scope user`.");
  }
  if (mode === "hook" && scope === "project" && hook?.userOnly) {
    throw unusableFile(
      title,
      `its hook can be set up for the user only, because ${hook.userOnly}`,
      "Use `--scope user`.",
    );
  }
  const file = mode === "hook" && hook ? files[hook.file] : files.server;
  if (mode === "shell" || file?.[scope]) return;
  throw unusableFile(
    title,
    `it reads no ${mode === "hook" ? "hooks" : "servers"} from a ${scope === "project" ? "project" : "file of the user"}`,
    `Use \`--scope ${scope === "project" ? "user" : "project"}\`.`,
  );
}
