/** Determines which arguments of a command are files that it deletes, overwrites or changes the permissions of. */
import { type Field, literal, tail } from "../expand/field.ts";
import { limits } from "../limits.ts";
import { normalize } from "../path.ts";
import { type Call, markCommandUnknown, recordTarget } from "../walk/call.ts";
import { hasOption, type Options, optionValue, optionValues } from "./options.ts";

export type Effect = (call: Call, options: Options) => void;

const RECURSIVE = ["r", "R", "recursive"];

export const deletes: Effect = (call, options) => {
  for (const field of options.operands) recordTarget(call, "delete", field, hasOption(options, ...RECURSIVE));
};

export const overwrites: Effect = (call, options) => {
  for (const field of options.operands) recordTarget(call, "write", field, false);
};

/**
 * Models tools for disks and disk images. Whether they write depends on the arguments, which a rule judges; here only
 * links are followed, so that a link to a disk does not look like an image.
 */
export const usesImages: Effect = (call, options) => {
  for (const field of options.operands) {
    const before = call.fact.targets.length;
    recordTarget(call, "write", field, false);
    if (call.fact.targets.length === before + 1) call.fact.targets.pop();
  }
};

/**
 * Models `chmod`, `chown` and similar commands: the first operand is a mode or owner, and the others are files. A mode
 * such as `-x` is parsed as an option, and then all operands are files.
 */
export const changesMode: Effect = (call, options) => {
  const minus = call.argv.some((field, index) => index > 0 && /^-[rwxXstugoaij=,+]*[wxXstij]/.test(field.value ?? ""));
  const given =
    hasOption(options, "reference", "restore") || (minus && call.name.startsWith("ch") && call.name !== "chown");
  const files = given ? options.operands : options.operands.slice(1);
  for (const field of files) recordTarget(call, "mode", field, hasOption(options, ...RECURSIVE));
};

/** Models `cp` and similar commands: the last operand is the destination, unless an option names it. */
export const copies: Effect = (call, options) => {
  const folder = optionValue(options, "t", "target-directory");
  if (folder) recordTarget(call, "write", folder, hasOption(options, ...RECURSIVE, "a", "archive"));
  else if (options.operands.length > 1) {
    const last = options.operands.at(-1) as Field;
    recordTarget(call, "write", last, hasOption(options, ...RECURSIVE, "a", "archive"));
    const exact =
      hasOption(options, "T", "no-target-directory") || (/^g?ln$/.test(call.name) && hasOption(options, "n"));
    for (const source of exact ? [] : options.operands.slice(0, -1)) into(call, source, last);
  }
  rememberFiles(call, options, folder);
};

/** Records the file inside a destination folder: `cp passwd /etc` writes `/etc/passwd`. */
function into(call: Call, source: Field, folder: Field): void {
  if (source.value === null || folder.value === null || source.glob) return;
  const path = call.name === "scp" ? source.value.replace(/^[^/]*:/, "") : source.value;
  const name = path.replace(/\/+$/, "").replace(/^.*\//, "");
  if (name === "" || name === "." || name === "..") return;
  const value = `${folder.value.replace(/\/+$/, "")}/${name}`;
  recordTarget(call, "write", { ...folder, value, prefix: value, shape: value, uncertain: null }, false);
}

export const moves: Effect = (call, options) => {
  const folder = optionValue(options, "t", "target-directory");
  for (const field of folder ? options.operands : options.operands.slice(0, -1))
    recordTarget(call, "delete", field, true);
  copies(call, options);
};

export const links: Effect = (call, options) => {
  if (options.operands.length === 1 && !optionValue(options, "t", "target-directory"))
    rememberFiles(call, options, literal(".", "", call.fact.span));
  else copies(call, options);
};

/** Remembers the links and copies that a command makes, so that later commands that use them are understood. */
function rememberFiles(call: Call, options: Options, folder: Field | null): void {
  const { cwd, name, walk } = call;
  const sources = folder ? options.operands : options.operands.slice(0, -1);
  const destination = (folder ?? options.operands.at(-1))?.shape;
  const target = destination ? normalize(destination, cwd) : null;
  if (target === null || call.origin.remote) return;
  const symbolic = hasOption(options, "s", "symbolic", "symbolic-link") && name !== "install" && !name.endsWith("mv");
  const linked = /^g?ln$/.test(name) || (/^g?cp$/.test(name) && (symbolic || hasOption(options, "l", "link")));
  for (const source of sources) {
    if (source.shape === null || walk.state.made.size > limits.listItems) continue;
    const places = folder ? [] : [target];
    const last = source.shape.replace(/\/+$/, "").replace(/^.*\//, "");
    if (last !== "" && last !== "." && last !== ".." && !source.glob)
      places.push(`${target === "/" ? "" : target}/${last}`);
    for (const place of places) {
      // A symbolic link is relative to the folder that contains it.
      const base =
        symbolic && !hasOption(options, "r", "relative") ? place.slice(0, place.lastIndexOf("/")) || "/" : cwd;
      const shape = source.glob ? source.shape.replace(/\/[^/]*[*?[].*$/, "") || "/" : source.shape;
      const original = shape.startsWith("/") ? shape : base === null ? null : `${base}/${shape}`;
      if (original !== null && normalize(original, "/") !== place) walk.state.made.set(place, { original, linked });
    }
  }
}

export function patches(call: Call, options: Options): void {
  if (hasOption(options, "dry-run")) return;
  const file = optionValue(options, "o", "output") ?? options.operands[0];
  if (file) recordTarget(call, "write", file, false);
  const folder = optionValue(options, "d", "directory");
  if (folder) recordTarget(call, "write", folder, true);
}

function unpacks(call: Call, folder: Field | null): void {
  recordTarget(call, "write", folder ?? literal(".", "", call.fact.span), true);
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
    "stderr",
    "libcurl",
    "hsts",
    "alt-svc",
    "etag-save",
    "save-cookies",
    "warc-file",
    "rejected-log",
    "hsts-file",
  ]) {
    const file = optionValue(options, name);
    const writes =
      !(call.name === "curl" && (name === "d" || name === "a")) &&
      !(call.name === "wget" && (name === "c" || name === "D" || name === "d"));
    if (file && writes && file.value !== "-") recordTarget(call, "write", file, false);
  }
  if (
    call.name === "wget"
      ? !hasOption(options, "O", "output-document")
      : hasOption(options, "O", "remote-name", "remote-name-all")
  )
    for (const field of options.operands) downloadsTo(call, options, field);
  for (const value of optionValues(options, "e", "execute")) {
    const file = /^\s*(?:output_document|logfile|save_cookies)\s*=\s*/.exec(value.prefix);
    if (file && call.name === "wget") recordTarget(call, "write", tail(value, file[0].length), false);
  }
  if (hasOption(options, "K", "config") && call.name === "curl")
    markCommandUnknown(call, call.fact.span, "`curl` reads options from a file");
  for (const field of call.argv) {
    const host = /^(?:[a-z][a-z+.-]*:\/\/)(?:[^@/]*@)?([\w.-]+)/i.exec(field.value ?? "");
    if (host?.[1]) call.fact.network.push(host[1]);
  }
}

/** Records the file that is named after the last component of a URL: `wget http://host/x.sh` writes `x.sh`. */
function downloadsTo(call: Call, options: Options, url: Field): void {
  const name = /^[a-z][a-z+.-]*:\/\/[^?#]*\/([^/?#]+)/i.exec(url.value ?? "")?.[1];
  if (!name) return;
  const folder = optionValue(options, "P", "directory-prefix", "output-dir");
  if (folder && folder.value === null) return;
  const path = folder ? `${folder.value}/${name}` : name;
  recordTarget(call, "write", literal(path, url.source, url.span), false);
}

/** Models `mknod d b 8 0`: writing to the new file writes to the device. */
export const makesDevice: Effect = (call, options) => {
  const [file, type, major, minor] = options.operands;
  if (!file) return;
  recordTarget(call, "write", file, false);
  const path = file.shape === null ? null : normalize(file.shape, call.cwd);
  const folder = type?.value === "b" ? "block" : "char";
  if (path && /^[bcu]$/.test(type?.value ?? ""))
    call.walk.state.made.set(path, { original: `/dev/${folder}/${major?.shape}:${minor?.shape}`, linked: true });
};

/** Models commands whose operands are all files whose permissions change. */
export const changesAll: Effect = (call, options) => {
  for (const field of options.operands) recordTarget(call, "mode", field, hasOption(options, ...RECURSIVE));
};

export const deletesTrees: Effect = (call, options) => {
  for (const field of options.operands) recordTarget(call, "delete", field, true);
};

/** Models `dd of=…` and its variants. */
export const copiesBlocks: Effect = (call) => {
  for (const field of call.argv)
    if (/^(?:of|ofs|hof)=/.test(field.prefix))
      recordTarget(call, "write", tail(field, field.prefix.indexOf("=") + 1), false);
};

export const writesNth =
  (index: number): Effect =>
  (call, options) => {
    const field = options.operands[index];
    if (field) recordTarget(call, "write", field, false);
  };

export const writesOption =
  (...names: string[]): Effect =>
  (call, options) => {
    for (const field of optionValues(options, ...names)) recordTarget(call, "write", field, false);
  };

export const unpacksTo =
  (...names: string[]): Effect =>
  (call, options) =>
    unpacks(call, optionValue(options, ...names));
