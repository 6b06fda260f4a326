/** tar and rsync: what they write and delete depends on a mode as much as on words. */

import { type Field, literal } from "../expand/field.ts";
import { type Call, target, unclear } from "../walk/call.ts";
import { hasOption, optionValue, readOptions } from "./options.ts";

const TAR_LONG =
  "directory= file= extract get create list append update delete remove-files exclude= strip-components= transform= to-command= use-compress-program= absolute-names overwrite checkpoint checkpoint-action= files-from= exclude-from= owner= group= mode= mtime= one-top-level wildcards gzip bzip2 xz zstd auto-compress verbose";

export function tar(call: Call): void {
  const argv = [...call.argv];
  // `tar xf a` without a dash.
  const bundle = argv[1];
  if (bundle?.value && /^[a-zA-Z]+$/.test(bundle.value))
    argv[1] = { ...bundle, value: `-${bundle.value}`, prefix: `-${bundle.value}` };
  const options = readOptions(argv, {
    short: "C:f:b:g:H:I:F:K:L:N:T:X:V:xctruAdvzjJpkPOmaZhlWnGsSUwioBR",
    long: TAR_LONG,
  });
  const folder = optionValue(options, "C", "directory");
  if (hasOption(options, "x", "extract", "get") && !hasOption(options, "O", "to-stdout")) {
    target(call, "write", folder ?? literal(".", "", call.fact.span), true);
    if (hasOption(options, "P", "absolute-names")) unclear(call, call.fact.span, "an archive that may write anywhere");
  }
  const file = optionValue(options, "f", "file");
  if (file && hasOption(options, "c", "create", "r", "append", "u", "update", "delete") && file.value !== "-")
    target(call, "write", file, false);
  if (hasOption(options, "remove-files")) for (const field of options.operands) target(call, "delete", field, true);
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
    target(call, "write", last, true);
    if (deletes) target(call, "delete", last, true);
  }
  if (hasOption(options, "remove-source-files"))
    for (const field of options.operands.slice(0, -1)) if (!isRemote(field)) target(call, "delete", field, true);
}

function isRemote(field: Field): boolean {
  return /^[^/]*:/.test(field.value ?? "");
}
