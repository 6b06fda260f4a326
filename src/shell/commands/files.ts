/** Commands that delete, overwrite or re-permission files: which of their words are the targets. */
import { type Call, target } from "../call.ts";
import { type Field, literal, tail } from "../field.ts";
import { hasOption, type OptionSpec, type Options, optionValue, readOptions } from "../options.ts";

type Effect = (call: Call, options: Options) => void;

interface FileCommand extends OptionSpec {
  effect: Effect;
}

const RECURSIVE = ["r", "R", "recursive"];

const deletes: Effect = (call, options) => {
  for (const field of options.operands) target(call, "delete", field, hasOption(options, ...RECURSIVE));
};

const overwrites: Effect = (call, options) => {
  for (const field of options.operands) target(call, "write", field, false);
};

/** The first operand is a mode or owner, the rest are files; with --reference all are. */
const changesMode: Effect = (call, options) => {
  const files = hasOption(options, "reference", "M", "restore") ? options.operands : options.operands.slice(1);
  for (const field of files) target(call, "mode", field, hasOption(options, ...RECURSIVE));
};

/** Sources and a destination; the destination may be named by an option. */
const copies: Effect = (call, options) => {
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

const moves: Effect = (call, options) => {
  const folder = optionValue(options, "t", "target-directory");
  for (const field of folder ? options.operands : options.operands.slice(0, -1)) target(call, "delete", field, true);
  copies(call, options);
};

const links: Effect = (call, options) => {
  if (options.operands.length === 1 && !optionValue(options, "t", "target-directory")) return;
  copies(call, options);
};

const COPY = [
  "target-directory=",
  "suffix=",
  "backup",
  "force",
  "interactive",
  "no-clobber",
  "recursive",
  "archive",
  "update",
  "verbose",
  "no-target-directory",
  "parents",
  "preserve",
  "reflink",
  "sparse",
  "symbolic-link",
  "link",
  "one-file-system",
  "dereference",
  "no-dereference",
  "attributes-only",
  "remove-destination",
  "strip-trailing-slashes",
];

export const FILE_COMMANDS: Record<string, FileCommand> = {
  rm: {
    short: "dfiIrRvP",
    long: [
      "force",
      "interactive",
      "recursive",
      "dir",
      "verbose",
      "one-file-system",
      "no-preserve-root",
      "preserve-root",
    ],
    effect: deletes,
  },
  srm: { short: "rfvi", effect: deletes },
  grm: { short: "rRf", effect: deletes },
  rmdir: { short: "pv", long: ["parents", "verbose", "ignore-fail-on-non-empty"], effect: deletes },
  unlink: { effect: deletes },
  trash: { effect: deletes },
  "trash-put": { effect: deletes },
  rimraf: {
    short: "G",
    long: ["glob", "no-glob", "impl=", "max-retries="],
    effect: (call, options) => {
      for (const field of options.operands) target(call, "delete", field, true);
    },
  },
  "del-cli": { effect: deletes },
  wipe: { short: "rfq", effect: overwrites },
  shred: {
    short: "fn:s:uvxz",
    long: ["force", "iterations=", "random-source=", "size=", "remove", "verbose", "exact", "zero"],
    effect: (call, options) => {
      overwrites(call, options);
      deletes(call, options);
    },
  },
  truncate: { short: "cor:s:", long: ["no-create", "io-blocks", "reference=", "size="], effect: overwrites },
  fallocate: {
    short: "cdil:no:pvxzw",
    long: ["length=", "offset=", "punch-hole", "zero-range", "collapse-range", "dig-holes", "keep-size"],
    effect: overwrites,
  },
  tee: { short: "aip", long: ["append", "ignore-interrupts", "output-error"], effect: overwrites },
  sponge: { short: "a", effect: overwrites },
  touch: {
    short: "acd:fhmr:t:",
    long: ["date=", "reference=", "time=", "no-create", "no-dereference"],
    effect: overwrites,
  },
  mkdir: { short: "m:pvZ", long: ["mode=", "parents", "verbose", "context"], effect: overwrites },
  mkfifo: { short: "m:Z", effect: overwrites },
  mknod: {
    short: "m:Z",
    effect: (call, options) => {
      if (options.operands[0]) target(call, "write", options.operands[0], false);
    },
  },
  cp: { short: "abdfiHlLnPprRsS:t:TuvxZ", long: COPY, effect: copies },
  gcp: { short: "abdfiHlLnPprRsS:t:TuvxZ", long: COPY, effect: copies },
  mv: { short: "bfinS:t:TuvZ", long: COPY, effect: moves },
  gmv: { short: "bfinS:t:TuvZ", long: COPY, effect: moves },
  install: {
    short: "bcCdDg:m:o:pS:t:TsvZ",
    long: [
      "target-directory=",
      "group=",
      "mode=",
      "owner=",
      "suffix=",
      "strip-program=",
      "directory",
      "compare",
      "verbose",
      "preserve-timestamps",
    ],
    effect: (call, options) => (hasOption(options, "d", "directory") ? overwrites : copies)(call, options),
  },
  ln: {
    short: "bdfFiLnPrsS:t:Tv",
    long: [
      "target-directory=",
      "suffix=",
      "backup",
      "force",
      "symbolic",
      "relative",
      "no-dereference",
      "verbose",
      "no-target-directory",
    ],
    effect: links,
  },
  chmod: {
    short: "cfvRrwxXstugo",
    long: ["changes", "silent", "quiet", "verbose", "no-preserve-root", "preserve-root", "reference=", "recursive"],
    effect: changesMode,
  },
  chown: {
    short: "cfvhRHLP",
    long: [
      "changes",
      "silent",
      "quiet",
      "verbose",
      "dereference",
      "no-dereference",
      "from=",
      "no-preserve-root",
      "preserve-root",
      "reference=",
      "recursive",
    ],
    effect: changesMode,
  },
  chgrp: {
    short: "cfvhRHLP",
    long: [
      "changes",
      "silent",
      "quiet",
      "verbose",
      "dereference",
      "no-dereference",
      "no-preserve-root",
      "preserve-root",
      "reference=",
      "recursive",
    ],
    effect: changesMode,
  },
  chattr: { short: "RVfv:p:", effect: changesMode },
  chcon: {
    short: "hRHLPu:r:t:l:v",
    long: ["recursive", "reference=", "user=", "role=", "type=", "range="],
    effect: changesMode,
  },
  restorecon: {
    short: "RrvFn",
    effect: (call, options) => {
      for (const field of options.operands) target(call, "mode", field, hasOption(options, ...RECURSIVE));
    },
  },
  setfacl: {
    short: "m:x:M:X:bkdRLPn",
    long: ["modify=", "remove=", "remove-all", "recursive", "restore=", "set=", "default"],
    effect: (call, options) => {
      for (const field of options.operands) target(call, "mode", field, hasOption(options, ...RECURSIVE));
    },
  },
  dd: {
    effect: (call) => {
      for (const field of call.argv) if (field.prefix.startsWith("of=")) target(call, "write", tail(field, 3), false);
    },
  },
  patch: {
    short: "bB:cd:D:eEfF:g:i:lnNo:p:r:RstT:uvV:Y:z:Z",
    long: ["input=", "output=", "directory=", "strip=", "dry-run", "reject-file=", "force", "forward", "reverse"],
    effect: patches,
  },
  ex: { short: "c:sS:", effect: overwrites },
  ed: { short: "p:s", effect: overwrites },
  unzip: {
    short: "d:x:P:lopqtuvnjaC",
    effect: (call, options) => {
      unpacks(call, optionValue(options, "d"));
    },
  },
  "7z": {
    effect: (call) => {
      for (const field of call.argv) if (/^-o./.test(field.prefix)) unpacks(call, tail(field, 2));
    },
  },
  bsdtar: { short: "C:f:xvz", effect: (call, options) => unpacks(call, optionValue(options, "C")) },
  cpio: {
    short: "D:idmuvoF:pH:I:O:",
    long: ["directory=", "extract", "make-directories"],
    effect: (call, options) => unpacks(call, optionValue(options, "D", "directory")),
  },
  curl: {
    short: "o:OJLsSfkHX:d:F:u:A:b:c:e:T:x:w:m:r:K:C:E:Q:t:y:Y:z:D:",
    long: [
      "output=",
      "output-dir=",
      "header=",
      "request=",
      "data=",
      "form=",
      "user=",
      "cookie-jar=",
      "dump-header=",
      "config=",
      "url=",
      "trace=",
      "trace-ascii=",
      "remote-name",
    ],
    effect: downloads,
  },
  wget: {
    short: "O:o:P:a:i:e:T:t:U:Q:w:A:R:D:B:X:I:l:",
    long: [
      "output-document=",
      "output-file=",
      "directory-prefix=",
      "append-output=",
      "execute=",
      "header=",
      "post-file=",
      "body-file=",
      "post-data=",
      "user-agent=",
      "warc-file=",
    ],
    effect: downloads,
  },
  aria2c: { short: "d:o:", long: ["dir=", "out="], effect: downloads },
  scp: { short: "346ABCc:D:F:i:J:l:o:OP:pqRrS:TvX:", effect: copies },
  sort: {
    short: "k:o:S:t:T:",
    long: ["output=", "key=", "field-separator=", "compress-program=", "temporary-directory="],
    effect: (call, options) => {
      const file = optionValue(options, "o", "output");
      if (file) target(call, "write", file, false);
    },
  },
  uniq: {
    short: "f:s:w:",
    effect: (call, options) => {
      if (options.operands[1]) target(call, "write", options.operands[1], false);
    },
  },
  crontab: { short: "u:lrei", effect: () => {} },
  gzip: { short: "S:", effect: overwrites },
  objcopy: { effect: overwrites },
  "update-alternatives": { effect: () => {} },
};

function patches(call: Call, options: Options): void {
  if (hasOption(options, "dry-run")) return;
  const file = optionValue(options, "o", "output") ?? options.operands[0];
  if (file) target(call, "write", file, false);
  const folder = optionValue(options, "d", "directory");
  if (folder) target(call, "write", folder, true);
}

function unpacks(call: Call, folder: Field | null): void {
  target(call, "write", folder ?? literal(".", "", call.fact.span), true);
}

function downloads(call: Call, options: Options): void {
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

export function files(call: Call): void {
  const spec = FILE_COMMANDS[call.name];
  if (spec) spec.effect(call, readOptions(call.argv, spec));
}
