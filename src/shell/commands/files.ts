/** Commands that delete, overwrite or change the permissions of files. To add one, add a line to the table. */

import { type Call, recordTarget } from "../walk/call.ts";
import {
  changesAll,
  changesMode,
  copies,
  copiesBlocks,
  deletes,
  deletesTrees,
  downloads,
  type Effect,
  links,
  makesDevice,
  moves,
  overwrites,
  patches,
  unpacksTo,
  usesImages,
  writesNth,
  writesOption,
} from "./effects.ts";
import { hasOption, type OptionSpec, optionValue, readOptions } from "./options.ts";

interface FileCommand extends OptionSpec {
  effect: Effect;
}

const COPY =
  "target-directory= suffix= backup force interactive no-clobber recursive archive update verbose no-target-directory parents preserve reflink sparse symbolic-link link one-file-system dereference no-dereference attributes-only remove-destination strip-trailing-slashes";

/** Compressors replace their operands, unless they write to standard output, keep the file, or only test it. */
const COMPRESSOR: FileCommand = {
  short: "cdfhklnNqrS:tvVM:T:o:123456789",
  long: "stdout to-stdout decompress uncompress keep list test suffix= force quiet verbose recursive memory= threads=",
  effect: (call, options) => {
    const output = optionValue(options, "o");
    if (output) recordTarget(call, "write", output, false);
    else if (!hasOption(options, "c", "stdout", "to-stdout", "l", "list", "t", "test")) overwrites(call, options);
  },
};

export const FILE_COMMANDS: Record<string, FileCommand> = {
  rm: {
    short: "dfiIrRvP",
    long: "force interactive recursive dir verbose one-file-system no-preserve-root preserve-root",
    effect: deletes,
  },
  srm: { short: "rfvi", effect: deletes },
  grm: { short: "rRf", effect: deletes },
  rmdir: { short: "pv", long: "parents verbose ignore-fail-on-non-empty", effect: deletes },
  unlink: { effect: deletes },
  trash: { effect: deletes },
  "trash-put": { effect: deletes },
  rimraf: {
    short: "G",
    long: "glob no-glob impl= max-retries=",
    effect: deletesTrees,
  },
  "del-cli": { effect: deletes },
  wipe: { short: "rfq", effect: overwrites },
  shred: {
    short: "fn:s:uvxz",
    long: "force iterations= random-source= size= remove verbose exact zero",
    effect: (call, options) => {
      overwrites(call, options);
      deletes(call, options);
    },
  },
  truncate: { short: "cor:s:", long: "no-create io-blocks reference= size=", effect: overwrites },
  fallocate: {
    short: "cdil:no:pvxzw",
    long: "length= offset= punch-hole zero-range collapse-range dig-holes keep-size",
    effect: overwrites,
  },
  tee: { short: "aip", long: "append ignore-interrupts output-error", effect: overwrites },
  sponge: { short: "a", effect: overwrites },
  touch: {
    short: "acd:fhmr:t:",
    long: "date= reference= time= no-create no-dereference",
    effect: overwrites,
  },
  mkdir: { short: "m:pvZ", long: "mode= parents verbose context", effect: overwrites },
  mkfifo: { short: "m:Z", effect: overwrites },
  mknod: { short: "m:Z", effect: makesDevice },
  cp: { short: "abdfiHlLnPprRsS:t:TuvxZ", long: COPY, effect: copies },
  gcp: { short: "abdfiHlLnPprRsS:t:TuvxZ", long: COPY, effect: copies },
  mv: { short: "bfinS:t:TuvZ", long: COPY, effect: moves },
  gmv: { short: "bfinS:t:TuvZ", long: COPY, effect: moves },
  install: {
    short: "bcCdDg:m:o:pS:t:TsvZ",
    long: "target-directory= group= mode= owner= suffix= strip-program= directory compare verbose preserve-timestamps",
    effect: (call, options) => (hasOption(options, "d", "directory") ? overwrites : copies)(call, options),
  },
  ln: {
    short: "bdfFiLnPrsS:t:Tv",
    long: "target-directory= suffix= backup force symbolic relative no-dereference verbose no-target-directory",
    effect: links,
  },
  chmod: {
    short: "cfvRrwxXstugo",
    long: "changes silent quiet verbose no-preserve-root preserve-root reference= recursive",
    effect: changesMode,
  },
  chown: {
    short: "cfvhRHLP",
    long: "changes silent quiet verbose dereference no-dereference from= no-preserve-root preserve-root reference= recursive",
    effect: changesMode,
  },
  chgrp: {
    short: "cfvhRHLP",
    long: "changes silent quiet verbose dereference no-dereference no-preserve-root preserve-root reference= recursive",
    effect: changesMode,
  },
  chattr: { short: "RVfv:p:", effect: changesMode },
  chcon: {
    short: "hRHLPu:r:t:l:v",
    long: "recursive reference= user= role= type= range=",
    effect: changesMode,
  },
  restorecon: {
    short: "RrvFn",
    effect: changesAll,
  },
  setfacl: {
    short: "m:x:M:X:bkdRLPn",
    long: "modify= remove= remove-all recursive restore= set= default",
    effect: changesAll,
  },
  dd: { effect: copiesBlocks },
  dcfldd: { effect: copiesBlocks },
  dc3dd: { effect: copiesBlocks },
  ddrescue: { short: "b:c:fnrR:s:o:i:", effect: writesNth(1) },
  dd_rescue: { effect: writesNth(1) },
  scrub: { short: "p:b:fSX:D:", effect: overwrites },
  nwipe: { long: "autonuke nowait method= rounds=", effect: overwrites },
  bmaptool: { effect: (call, options) => options.operands[0]?.value === "copy" && writesNth(2)(call, options) },

  patch: {
    short: "bB:cd:D:eEfF:g:i:lnNo:p:r:RstT:uvV:Y:z:Z",
    long: "input= output= directory= strip= dry-run reject-file= force forward reverse",
    effect: patches,
  },
  mkfs: { effect: usesImages },
  mke2fs: { effect: usesImages },
  mkdosfs: { effect: usesImages },
  mkswap: { effect: usesImages },
  wipefs: { effect: usesImages },
  fdisk: { effect: usesImages },
  sfdisk: { effect: usesImages },
  sgdisk: { effect: usesImages },
  gdisk: { effect: usesImages },
  parted: { effect: usesImages },
  fsck: { effect: usesImages },
  e2fsck: { effect: usesImages },
  resize2fs: { effect: usesImages },
  tune2fs: { effect: usesImages },
  debugfs: { effect: usesImages },
  badblocks: { effect: usesImages },
  growpart: { effect: usesImages },
  ex: { short: "c:sS:", effect: overwrites },
  ed: { short: "p:s", effect: overwrites },
  unzip: {
    short: "d:x:P:lopqtuvnjaC",
    effect: unpacksTo("d"),
  },
  bsdtar: { short: "C:f:xvz", effect: unpacksTo("C") },
  curl: {
    short: "o:OJLsSfkHX:d:F:u:A:b:c:e:T:x:w:m:r:K:C:E:Q:t:y:Y:z:D:",
    long: "output= output-dir= header= request= data= form= user= cookie-jar= dump-header= config= url= trace= trace-ascii= stderr= libcurl= hsts= alt-svc= etag-save= etag-compare= remote-name",
    effect: downloads,
  },
  wget: {
    short: "O:o:P:a:i:e:T:t:U:Q:w:A:R:D:B:X:I:l:",
    long: "output-document= output-file= directory-prefix= append-output= execute= header= post-file= body-file= post-data= user-agent= warc-file= save-cookies= load-cookies= rejected-log= hsts-file=",
    effect: downloads,
  },
  aria2c: { short: "d:o:", long: "dir= out=", effect: downloads },
  scp: { short: "346ABCc:D:F:i:J:l:o:OP:pqRrS:TvX:", effect: copies },
  sort: {
    short: "k:o:S:t:T:",
    long: "output= key= field-separator= compress-program= temporary-directory=",
    effect: writesOption("o", "output"),
  },
  xxd: { short: "c:g:l:o:s:n:R:", effect: writesNth(1) },
  openssl: {
    wordy: true,
    long: "out= in= inkey= key= keyout= pass= passin= passout= outform= inform= writerand= newkey= CAkey= CA= config= subj= days=",
    effect: writesOption("out", "keyout", "writerand"),
  },
  gpg: { short: "o:r:u:ac:ds", long: "output= recipient= local-user= homedir=", effect: writesOption("o", "output") },
  script: { short: "c:aeE:fI:m:O:o:qT:t::B:", long: "command= log-in= log-out= log-io= append", effect: writesNth(0) },
  mysqldump: { short: "r:u:p::h:P:B:", long: "result-file=", effect: writesOption("r", "result-file") },
  pg_dump: { short: "f:d:h:U:p:F:t:", long: "file=", effect: writesOption("f", "file") },
  uniq: {
    short: "f:s:w:",
    effect: writesNth(1),
  },
  gzip: COMPRESSOR,
  gunzip: COMPRESSOR,
  bzip2: COMPRESSOR,
  bunzip2: COMPRESSOR,
  xz: COMPRESSOR,
  unxz: COMPRESSOR,
  zstd: COMPRESSOR,
  compress: COMPRESSOR,
  yq: {
    short: "io:p:P",
    long: "inplace output-format= input-format=",
    effect: (call, options) => hasOption(options, "i", "inplace") && overwrites(call, options),
  },
};

export function files(call: Call): void {
  const spec = FILE_COMMANDS[call.name] ?? FILE_COMMANDS[call.name.replace(/^(mkfs|fsck)[._].*$/, "$1")];
  if (spec) spec.effect(call, readOptions(call.argv, spec));
}
