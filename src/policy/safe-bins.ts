/**
 * Filters that read standard input and write standard output. They need no allowlist entry, but only in forms that
 * cannot read a file, write a file or start a program: known options, no operands that are paths, programs in trusted
 * folders.
 */
import type { CommandFact } from "../core/facts.ts";
import { isInside } from "../shell/path.ts";
import { isPlain } from "./allowlist.ts";

interface SafeBin {
  /** Short options that take no value. */
  flags: string;
  /** Short options that take a value. */
  values: string;
  /** Long options, matched in full, so that an abbreviation of a dangerous option is not accepted. */
  long?: readonly string[];
  /** Maximum number of operands, which are data and not paths (`tr a b`, `grep pattern`). */
  operands?: number;
  /** Whether a number is accepted as an option, such as `head -20`. */
  numbers?: boolean;
}

const SAFE_BINS: Record<string, SafeBin> = {
  cut: {
    flags: "bnsz",
    values: "bcfdO",
    long: [
      "complement",
      "only-delimited",
      "zero-terminated",
      "bytes",
      "characters",
      "fields",
      "delimiter",
      "output-delimiter",
    ],
  },
  head: { flags: "qvz", values: "nc", long: ["lines", "bytes", "quiet", "verbose", "zero-terminated"], numbers: true },
  tail: { flags: "qvzr", values: "nc", long: ["lines", "bytes", "quiet", "verbose", "zero-terminated"], numbers: true },
  tr: { flags: "cCdst", values: "", long: ["complement", "delete", "squeeze-repeats", "truncate-set1"], operands: 2 },
  uniq: {
    flags: "cdDiuz",
    values: "fsw",
    long: ["count", "repeated", "unique", "ignore-case", "skip-fields", "skip-chars", "check-chars", "zero-terminated"],
  },
  wc: { flags: "clmwL", values: "", long: ["bytes", "chars", "lines", "words", "max-line-length"] },
  sort: {
    flags: "bdfghiMnrRsuVzc",
    values: "kt",
    long: [
      "reverse",
      "unique",
      "numeric-sort",
      "human-numeric-sort",
      "version-sort",
      "key",
      "field-separator",
      "stable",
      "ignore-case",
      "zero-terminated",
      "general-numeric-sort",
      "month-sort",
      "ignore-leading-blanks",
      "dictionary-order",
      "check",
    ],
  },
  rev: { flags: "", values: "" },
  tac: { flags: "b", values: "" },
  nl: { flags: "p", values: "bdfhilnsvw" },
  fold: { flags: "bs", values: "w", long: ["bytes", "spaces", "width"] },
  expand: { flags: "i", values: "t" },
  unexpand: { flags: "a", values: "t" },
  column: { flags: "tenx", values: "scoN", long: ["table", "separator", "output-separator"] },
  cat: {
    flags: "AbeEnstTuv",
    values: "",
    long: ["show-all", "number", "number-nonblank", "show-ends", "show-tabs", "squeeze-blank", "show-nonprinting"],
  },
  grep: {
    flags: "EFGPivwxcLloqsnhHaz",
    values: "eABCm",
    long: [
      "extended-regexp",
      "fixed-strings",
      "ignore-case",
      "invert-match",
      "word-regexp",
      "line-regexp",
      "count",
      "only-matching",
      "quiet",
      "line-number",
      "max-count",
      "regexp",
      "after-context",
      "before-context",
      "context",
    ],
    operands: 1,
  },
  base64: { flags: "di", values: "w", long: ["decode", "wrap"] },
  md5sum: { flags: "bt", values: "" },
  sha1sum: { flags: "bt", values: "" },
  sha256sum: { flags: "bt", values: "" },
  seq: { flags: "w", values: "fs", operands: 3, numbers: true },
  basename: { flags: "az", values: "s", operands: 9 },
  dirname: { flags: "z", values: "", operands: 9 },
  sleep: { flags: "", values: "", operands: 1 },
  date: { flags: "uR", values: "I", long: ["utc", "rfc-email", "iso-8601"], operands: 0 },
  uname: { flags: "asnrvmpio", values: "" },
  whoami: { flags: "", values: "" },
  nproc: { flags: "", values: "", long: ["all"] },
};

/** These programs process their operands as text and never open them. */
const TEXT_ONLY = new Set(["basename", "dirname"]);

const TRUSTED = ["/bin", "/usr/bin", "/nix/store", "/run/current-system/sw/bin"];

export function isSafeBin(fact: CommandFact, kept?: readonly string[] | null): boolean {
  const { written, resolved } = fact.executable;
  if (kept && !kept.includes(written ?? "")) return false;
  const bin = written === null || !Object.hasOwn(SAFE_BINS, written) ? undefined : SAFE_BINS[written];
  if (!bin || written === null || resolved === null || !isPlain(fact)) return false;
  if (!TRUSTED.some((folder) => isInside(resolved, folder))) return false;
  // The shell expands globs and variables after this check: `*` may become `--compress-program=x`.
  if (fact.argv.some((word) => word.value === null || word.glob) || fact.unknowns.length > 0) return false;
  return argumentsAreSafe(
    bin,
    fact.argv.slice(1).map((word) => word.value ?? ""),
    written,
  );
}

function argumentsAreSafe(bin: SafeBin, words: string[], name: string): boolean {
  let operands = 0;
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? "";
    if (word === "--" || (word.length > 1 && word.startsWith("-"))) {
      const used = word === "--" ? null : flag(bin, word);
      if (used === null) return false;
      i += used;
    } else {
      operands++;
      const pattern = name === "grep" || name === "tr" || TEXT_ONLY.has(name) || name === "seq" || name === "sleep";
      if (word === "-" && operands > (bin.operands ?? 0)) continue;
      if (name === "date" && word.startsWith("+")) continue;
      if (operands > (bin.operands ?? 0) || !pattern) return false;
      if (name === "sleep" && !/^\d{1,4}(?:\.\d+)?s?$/.test(word)) return false;
    }
  }
  return true;
}

/** Returns the number of arguments that follow the option as its value, or null if the option is not accepted. */
function flag(bin: SafeBin, word: string): number | null {
  if (word.startsWith("--")) {
    const equals = word.indexOf("=");
    const name = word.slice(2, equals < 0 ? undefined : equals);
    return bin.long?.includes(name) ? 0 : null;
  }
  if (bin.numbers && /^-\d+$/.test(word)) return 0;
  for (let at = 1; at < word.length; at++) {
    const letter = word[at] as string;
    if (bin.values.includes(letter)) return at + 1 < word.length ? 0 : 1;
    if (!bin.flags.includes(letter)) return null;
  }
  return 0;
}
