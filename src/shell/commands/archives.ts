/** Models archivers and synchronizers, which write archives, unpack them, and may delete what they copied. */
import { type Field, literal, tail } from "../expand/field.ts";
import { type Call, markCommandUnknown, recordTarget } from "../walk/call.ts";
import { hasOption, optionValue, readOptions } from "./options.ts";

const TAR_LONG =
  "directory= file= extract get create list append update delete remove-files exclude= strip-components= transform= to-command= use-compress-program= absolute-names overwrite checkpoint checkpoint-action= files-from= exclude-from= owner= group= mode= mtime= one-top-level wildcards gzip bzip2 xz zstd auto-compress verbose";

export function tar(call: Call): void {
  const argv = [...call.argv];
  // `tar xf a`, without a dash.
  const bundle = argv[1];
  if (bundle?.value && /^[a-zA-Z]+$/.test(bundle.value))
    argv[1] = { ...bundle, value: `-${bundle.value}`, prefix: `-${bundle.value}` };
  const options = readOptions(argv, {
    short: "C:f:b:g:H:I:F:K:L:N:T:X:V:xctruAdvzjJpkPOmaZhlWnGsSUwioBR",
    long: TAR_LONG,
  });
  const folder = optionValue(options, "C", "directory");
  if (hasOption(options, "x", "extract", "get") && !hasOption(options, "O", "to-stdout")) {
    recordTarget(call, "write", folder ?? literal(".", "", call.fact.span), true);
    if (hasOption(options, "P", "absolute-names"))
      markCommandUnknown(call, call.fact.span, "the archive may write to any path");
  }
  const file = optionValue(options, "f", "file");
  if (file && hasOption(options, "c", "create", "r", "append", "u", "update", "delete") && file.value !== "-")
    recordTarget(call, "write", file, false);
  if (hasOption(options, "remove-files"))
    for (const field of options.operands) recordTarget(call, "delete", inFolder(field, folder), true);
}

/** Returns an operand as a path below the folder that `-C` names. */
function inFolder(field: Field, folder: Field | null): Field {
  if (!folder || field.shape === null || folder.shape === null || field.shape.startsWith("/")) return field;
  const value = `${folder.shape.replace(/\/+$/, "")}/${field.shape}`;
  return { ...field, value, prefix: value, shape: value, uncertain: field.uncertain ?? folder.uncertain };
}

export function rsync(call: Call): void {
  const options = readOptions(call.argv, {
    short: "vqcaRbruldLkKHpEXAogDtOJSnWxe:IzCf:B:T:PhiyM:046",
    long: "delete delete-before delete-during delete-after delete-excluded delete-delay rsh= exclude= include= exclude-from= include-from= files-from= backup-dir= suffix= max-delete= chmod= chown= temp-dir= compare-dest= link-dest= copy-dest= log-file= bwlimit= port= password-file= rsync-path= filter= partial-dir= timeout= dry-run archive remove-source-files out-format= info=",
  });
  if (hasOption(options, "n", "dry-run")) return;
  const last = options.operands.length > 1 ? options.operands.at(-1) : undefined;
  const deletes = options.list.some((option) => option.name.startsWith("delete"));
  for (const field of options.operands) {
    const host = /^(?:rsync:\/\/(?:[^@/]*@)?([\w.-]+)|(?:[\w.-]+@)?([\w.-]+):)/.exec(field.value ?? "");
    if (host) call.fact.network.push(host[1] ?? host[2] ?? "");
  }
  if (last && !isRemote(last)) {
    recordTarget(call, "write", last, true);
    if (deletes) recordTarget(call, "delete", last, true);
  }
  if (hasOption(options, "remove-source-files"))
    for (const field of options.operands.slice(0, -1)) if (!isRemote(field)) recordTarget(call, "delete", field, true);
}

function isRemote(field: Field): boolean {
  return /^[^/]*:/.test(field.value ?? "");
}

/** Models `zip -rm x.zip folder`, which deletes what it archives. */
export function zip(call: Call): void {
  const options = readOptions(call.argv, {
    short: "b:n:t:x:i:P:s:O:rmqvjDAFkLlogSTuUdeEfyXz0123456789@",
    long: "move recurse-paths temp-path= password= suffixes= split-size= out= exclude= include= quiet junk-paths delete test update freshen",
  });
  const [archive, ...files] = options.operands;
  const output = optionValue(options, "O", "out") ?? archive;
  if (output && output.value !== "-") recordTarget(call, "write", output, false);
  if (hasOption(options, "m", "move"))
    for (const field of files) recordTarget(call, "delete", field, hasOption(options, "r", "recurse-paths"));
}

/** Models `7z` and `rar`: the command comes first, then the archive and the files. */
export function sevenZip(call: Call): void {
  const [command, ...rest] = call.argv.slice(1);
  const [archive, ...files] = rest.filter((field) => !/^-./.test(field.prefix));
  const verb = command?.value ?? "";
  if (archive && /^(?:a|u|d|rn|m|mf|f)$/.test(verb)) recordTarget(call, "write", archive, false);
  const removes = /^mf?$/.test(verb) || call.argv.some((field) => /^-(?:sdel|df|dr|dw)$/.test(field.value ?? ""));
  if (removes) for (const field of files) recordTarget(call, "delete", field, true);
  if (!/^[ex]$/.test(verb)) return;
  const folder = call.argv.find((field) => /^-o./.test(field.prefix));
  const last = call.name.includes("rar") ? files.at(-1) : undefined;
  recordTarget(call, "write", folder ? tail(folder, 2) : (last ?? literal(".", "", call.fact.span)), true);
}

export function cpio(call: Call): void {
  const options = readOptions(call.argv, {
    short: "idmuvotpF:H:I:O:D:LaBcEfknqrsSVW:R:0",
    long: "extract create list pass-through directory= make-directories file= null",
  });
  const archive = optionValue(options, "O", "F", "file");
  if (hasOption(options, "o", "create") && archive) recordTarget(call, "write", archive, false);
  const folder = hasOption(options, "p", "pass-through") ? options.operands[0] : optionValue(options, "D", "directory");
  if (hasOption(options, "i", "extract", "p", "pass-through") && !hasOption(options, "t", "list"))
    recordTarget(call, "write", folder ?? literal(".", "", call.fact.span), true);
}

/** Models `ar rc lib.a x.o`, whose first operand is a list of flags. */
export function ar(call: Call): void {
  const [flags, archive] = call.argv.slice(1);
  if (archive && /[rqdms]/.test(flags?.value ?? "")) recordTarget(call, "write", archive, false);
}

/** Models `rclone` and `aws s3`, which copy, move and delete files by command. A path on another host has a colon. */
export function cloudCopy(call: Call): void {
  const words = call.argv.slice(1).filter((field) => !/^-/.test(field.prefix));
  const at =
    call.name === "aws"
      ? words[0]?.value === "s3"
        ? 1
        : -1
      : call.name === "gsutil" && words[0]?.value === "-m"
        ? 1
        : 0;
  const verb = at < 0 ? "" : (words[at]?.value ?? "");
  const paths = words.slice(at + 1);
  const local = (field: Field | undefined) => (field && !/^[\w.-]+:/.test(field.prefix) ? field : null);
  const destination = paths.length > 1 ? local(paths.at(-1)) : null;
  const deletes = call.argv.some((field) => /^(?:--delete.*|-d)$/.test(field.value ?? ""));
  if (/^(?:copy|copyto|cp|sync|move|moveto|mv|rsync)$/.test(verb) && destination)
    recordTarget(call, "write", destination, true);
  const mirrors = call.name === "rclone" ? verb === "sync" : deletes && /^(?:sync|rsync)$/.test(verb);
  if (mirrors && destination) recordTarget(call, "delete", destination, true);
  const removed = /^(?:move|moveto|mv)$/.test(verb)
    ? paths.slice(0, -1)
    : /^(?:delete|deletefile|purge|rmdirs?|cleanup|rm)$/.test(verb)
      ? paths
      : [];
  for (const field of removed) if (local(field)) recordTarget(call, "delete", field, true);
}
