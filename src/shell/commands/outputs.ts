/**
 * Options and operands that name a file which a program writes. Models that read options themselves pass them in; for
 * all other programs, the arguments are searched for the options. To add a program, add a line to the table.
 */
import { type Field, tail } from "../expand/field.ts";
import { type Call, type Runner, recordTarget } from "../walk/call.ts";
import type { Options } from "./options.ts";

interface Outputs {
  /** Options that name an output file or folder: `o` is `-o`, `output` is `--output` or `-output`. */
  options?: string;
  /** Matches further options, such as `--go_out=` of protoc. */
  pattern?: RegExp;
  /** Operands that are output files. Options are recognized by their dash only. */
  operands?: "last" | "all" | number;
}

const COMPILER: Outputs = { options: "o" };
const LAST: Outputs = { operands: "last" };

const OUTPUTS: Record<string, Outputs> = {
  time: { options: "o output" },
  strace: { options: "o output" },
  ltrace: { options: "o output" },
  perf: { options: "o output" },
  valgrind: { options: "log-file xml-file callgrind-out-file massif-out-file cachegrind-out-file" },
  heaptrack: { options: "o" },
  rr: { options: "o" },
  mprof: { options: "o output" },
  pyinstrument: { options: "o outfile" },
  daemonize: { options: "e o p l" },
  "xvfb-run": { options: "e error-file f auth-file" },
  hyperfine: { options: "export-json export-csv export-markdown export-asciidoc export-orgmode output" },
  "git archive": { options: "o output" },
  "git format-patch": { options: "o output-directory" },
  "git diff": { options: "output" },
  "git log": { options: "output" },
  "git show": { options: "output" },
  "git bugreport": { options: "o output-directory" },
  "git diagnose": { options: "o output-directory" },
  "git fast-export": { options: "export-marks" },
  ssh: { options: "E" },
  autossh: { options: "E" },
  tcpdump: { options: "w" },
  tshark: { options: "w" },
  dumpcap: { options: "w" },
  nmap: { options: "oN oX oG oS oA" },
  masscan: { options: "oX oJ oL oG oB output-filename" },
  ncat: { options: "o x output hex-dump append-output" },
  psql: { options: "o output L log-file" },
  pg_dumpall: { options: "f file" },
  pg_basebackup: { options: "D pgdata" },
  mongodump: { options: "o out archive" },
  mongoexport: { options: "o out" },
  "redis-cli": { options: "rdb" },
  screen: { options: "Logfile" },
  gcc: COMPILER,
  cc: COMPILER,
  "g++": COMPILER,
  "c++": COMPILER,
  clang: COMPILER,
  "clang++": COMPILER,
  tcc: COMPILER,
  ld: COMPILER,
  as: COMPILER,
  nvcc: COMPILER,
  gfortran: COMPILER,
  nasm: COMPILER,
  rustc: { options: "o out-dir" },
  go: { options: "o" },
  javac: { options: "d" },
  swiftc: COMPILER,
  ghc: COMPILER,
  tsc: { options: "outFile outDir outfile outdir" },
  esbuild: { options: "outfile outdir" },
  dot: COMPILER,
  neato: COMPILER,
  pandoc: { options: "o output" },
  inkscape: { options: "o export-filename" },
  gs: { options: "sOutputFile o" },
  protoc: { pattern: /^--\w+_out=/, options: "o descriptor_set_out" },
  ffmpeg: LAST,
  convert: LAST,
  magick: LAST,
  composite: LAST,
  montage: LAST,
  mogrify: { operands: "all", options: "path" },
  sox: LAST,
  qpdf: LAST,
  wkhtmltopdf: LAST,
  "qemu-img": LAST,
  objcopy: LAST,
  strip: { operands: "all", options: "o" },
  split: { operands: 1 },
  csplit: { options: "f prefix" },
  mksquashfs: { operands: 1 },
  unsquashfs: { options: "d dest" },
  mkisofs: { options: "o output" },
  genisoimage: { options: "o output" },
  xorrisofs: { options: "o output" },
  xorriso: { options: "outdev dev" },
  growisofs: { options: "Z M" },
  partclone: { options: "o O output overwrite L logfile" },
  pv: { options: "o output" },
  pax: { options: "f" },
  lz4: { operands: 1 },
  docker: { options: "output cidfile iidfile metadata-file" },
  pip: { options: "t target root prefix d dest log report" },
  gem: { options: "i install-dir n bindir" },
  gpg: { options: "o output" },
  age: { options: "o output" },
  iperf3: { options: "logfile" },
};

/** Records the files that a command writes, according to its options. `given` are the options that a model has read. */
export function recordOutputs(call: Call, given: Options | null, run?: Runner, name = call.name): void {
  const spec = OUTPUTS[name] ?? OUTPUTS[name.replace(/[-.\d].*$/, "")];
  const names = spec?.options?.split(" ") ?? [];
  if (given) {
    for (const { name, value } of given.list) if (value && names.includes(name)) writes(call, value, run);
  } else if (spec) {
    for (const [index, field] of call.argv.entries()) {
      const value = index === 0 ? null : optionOutput(field, call.argv[index + 1], names, spec.pattern);
      if (value) writes(call, value, run);
    }
    for (const field of operandOutputs(call, spec.operands)) writes(call, field, run);
  } else guessOutputs(call);
}

/** Records one output. `strace -o '|cmd'` and `-o '!cmd'` run a command instead. */
function writes(call: Call, field: Field, run: Runner | undefined): void {
  const piped = call.name === "strace" && /^[|!]/.test(field.prefix);
  if (piped && run) run.text(call, tail(field, 1));
  else if (field.value !== "-" && field.value !== "") recordTarget(call, "write", field, false);
}

function optionOutput(
  field: Field,
  next: Field | undefined,
  names: readonly string[],
  pattern: RegExp | undefined,
): Field | null {
  const text = field.prefix;
  const found = pattern?.exec(text);
  if (found) return tail(field, found[0].length);
  if (text[0] !== "-") return null;
  const equals = text.indexOf("=");
  const name = (equals < 0 ? text : text.slice(0, equals)).replace(/^--?/, "");
  if (names.includes(name)) return equals < 0 ? (next ?? null) : tail(field, equals + 1);
  // `-o/path` is one argument. Only a path is accepted, since `-ofoo` may be another option.
  const short = text.length > 2 && names.includes(text[1] ?? "") && /^[/~.|!]/.test(text.slice(2));
  return short ? tail(field, 2) : null;
}

function operandOutputs(call: Call, operands: Outputs["operands"]): Field[] {
  if (operands === undefined) return [];
  const words = call.argv.slice(1).filter((field) => !/^-./.test(field.prefix));
  if (operands === "all") return words;
  const field = operands === "last" ? words.at(-1) : words[operands];
  return field && (operands !== "last" || words.length > 1 || call.argv.length > 2) ? [field] : [];
}

/** Programs for which `-o` does not name an output file. */
const OTHERWISE =
  /^(?:[efz]?grep|rg|ag|ack|find|test|\[|ssh|mount|ps|ls|lsblk|stat|echo|printf|git|journalctl|systemctl|kubectl|helm|aws|az|gcloud)$/;
const USUAL =
  /^--?(?:o|out|outfile|out-?file|output|output[-_]?file|out-?dir|output[-_]?dir|dest|destination|logfile|log-file|target-dir|install-dir)$/i;

/** Records the absolute path after an option that usually names an output file, for programs that are not listed. */
function guessOutputs(call: Call): void {
  if (OTHERWISE.test(call.name)) return;
  for (const [index, field] of call.argv.entries()) {
    const text = field.value ?? field.prefix;
    if (index === 0 || text[0] !== "-") continue;
    const equals = text.indexOf("=");
    const following = call.argv[index + 1];
    if (equals > 0 && USUAL.test(text.slice(0, equals)) && text[equals + 1] === "/")
      recordTarget(call, "write", tail(field, equals + 1), false);
    else if (USUAL.test(text) && following?.value?.startsWith("/")) recordTarget(call, "write", following, false);
    else if (/^-o\//.test(text)) recordTarget(call, "write", tail(field, 2), false);
  }
}
