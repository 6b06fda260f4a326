/** Which words of a file command are what it deletes, overwrites or re-permissions. */

import { type Field, literal, tail } from "../expand/field.ts";
import { type Call, target } from "../walk/call.ts";
import { hasOption, type Options, optionValue } from "./options.ts";

export type Effect = (call: Call, options: Options) => void;

const RECURSIVE = ["r", "R", "recursive"];

export const deletes: Effect = (call, options) => {
  for (const field of options.operands) target(call, "delete", field, hasOption(options, ...RECURSIVE));
};

export const overwrites: Effect = (call, options) => {
  for (const field of options.operands) target(call, "write", field, false);
};

/** The first operand is a mode or owner, the rest are files; a mode like `-x` is read as an option, and then all are. */
export const changesMode: Effect = (call, options) => {
  const minus = call.argv.some((field, index) => index > 0 && /^-[rwxXstugoaij=,+]*[wxXstij]/.test(field.value ?? ""));
  const given =
    hasOption(options, "reference", "restore") || (minus && call.name.startsWith("ch") && call.name !== "chown");
  const files = given ? options.operands : options.operands.slice(1);
  for (const field of files) target(call, "mode", field, hasOption(options, ...RECURSIVE));
};

/** Sources and a destination; the destination may be named by an option. */
export const copies: Effect = (call, options) => {
  const folder = optionValue(options, "t", "target-directory");
  if (folder) target(call, "write", folder, hasOption(options, ...RECURSIVE, "a", "archive"));
  else if (options.operands.length > 1) {
    const last = options.operands.at(-1) as Field;
    target(call, "write", last, hasOption(options, ...RECURSIVE, "a", "archive"));
    for (const source of options.operands.slice(0, -1)) into(call, source, last);
  }
};

/** `cp passwd /etc` writes `/etc/passwd`. */
function into(call: Call, source: Field, folder: Field): void {
  if (source.value === null || folder.value === null || source.glob) return;
  const name = source.value.replace(/\/+$/, "").replace(/^.*\//, "");
  if (name === "" || name === "." || name === "..") return;
  const value = `${folder.value.replace(/\/+$/, "")}/${name}`;
  target(call, "write", { ...folder, value, prefix: value, shape: value, doubt: null }, false);
}

export const moves: Effect = (call, options) => {
  const folder = optionValue(options, "t", "target-directory");
  for (const field of folder ? options.operands : options.operands.slice(0, -1)) target(call, "delete", field, true);
  copies(call, options);
};

export const links: Effect = (call, options) => {
  if (options.operands.length === 1 && !optionValue(options, "t", "target-directory")) return;
  copies(call, options);
};

export function patches(call: Call, options: Options): void {
  if (hasOption(options, "dry-run")) return;
  const file = optionValue(options, "o", "output") ?? options.operands[0];
  if (file) target(call, "write", file, false);
  const folder = optionValue(options, "d", "directory");
  if (folder) target(call, "write", folder, true);
}

export function unpacks(call: Call, folder: Field | null): void {
  target(call, "write", folder ?? literal(".", "", call.fact.span), true);
}

export function downloads(call: Call, options: Options): void {
  for (const name of [
    "o",
    "output",
    "O",
    "output-document",
    "output-dir",
    "directory-prefix",
    "P",
    "d",
    "dir",
    "output-file",
    "a",
    "append-output",
    "c",
    "cookie-jar",
    "dump-header",
    "D",
    "trace",
    "trace-ascii",
  ]) {
    const file = optionValue(options, name);
    const writes =
      !(call.name === "curl" && (name === "d" || name === "a")) &&
      !(call.name === "wget" && (name === "c" || name === "D" || name === "d"));
    if (file && writes && file.value !== "-") target(call, "write", file, false);
  }
  for (const field of call.argv) {
    const host = /^(?:[a-z][a-z+.-]*:\/\/)(?:[^@/]*@)?([\w.-]+)/i.exec(field.value ?? "");
    if (host?.[1]) call.fact.network.push(host[1]);
  }
}

/** All operands are files whose permissions change. */
export const changesAll: Effect = (call, options) => {
  for (const field of options.operands) target(call, "mode", field, hasOption(options, ...RECURSIVE));
};

export const deletesTrees: Effect = (call, options) => {
  for (const field of options.operands) target(call, "delete", field, true);
};

/** `dd of=…` and its descendants. */
export const copiesBlocks: Effect = (call) => {
  for (const field of call.argv)
    if (/^(?:of|ofs|hof)=/.test(field.prefix)) target(call, "write", tail(field, field.prefix.indexOf("=") + 1), false);
};

export const writesNth =
  (index: number): Effect =>
  (call, options) => {
    const field = options.operands[index];
    if (field) target(call, "write", field, false);
  };

export const writesOption =
  (...names: string[]): Effect =>
  (call, options) => {
    const field = optionValue(options, ...names);
    if (field) target(call, "write", field, false);
  };

export const unpacksTo =
  (...names: string[]): Effect =>
  (call, options) =>
    unpacks(call, optionValue(options, ...names));
