/** Small languages whose programs are usually harmless: awk, sed, editors, sqlite. A program that could run or write is not. */

import type { Field } from "../expand/field.ts";
import { type Call, type Runner, target, unclear } from "../walk/call.ts";
import { versionless } from "./interpreters.ts";
import { hasOption, optionValues, readOptions } from "./options.ts";

export function awk(call: Call): void {
  const options = readOptions(call.argv, {
    short: "F:v:f:i:l:e:E:W:",
    long: "file= field-separator= assign= include= load= source= exec= csv posix sandbox",
    stop: true,
  });
  const given = optionValues(options, "e", "source");
  const programs =
    given.length > 0
      ? given
      : optionValues(options, "f", "file", "E", "exec").length > 0
        ? []
        : options.operands.slice(0, 1);
  const loads = hasOption(options, "i", "l", "include", "load");
  for (const program of programs) {
    if (
      program.value === null ||
      program.doubt ||
      /system|\||getline|>|close|@(?:load|include)|SYMTAB|ENVIRON.*\|/.test(comparisonsRemoved(program.value))
    ) {
      opaque(call, program, "an awk program that may run or write anything");
    }
  }
  if (loads) opaque(call, call.argv[0], "awk extensions");
}

/** `$3 > 5` and `a || b` are no pipe and no redirect; `print > "f"` is. */
function comparisonsRemoved(program: string): string {
  if (/\bprintf?\b[^;}\n]*[>|]/.test(program)) return program;
  return program.replace(/"(?:[^"\\]|\\.)*"|\/(?:[^/\\\n]|\\.)+\//g, '""').replace(/\|\||>=|>\s*-?[\d.$A-Za-z_]/g, " ");
}

const SED_RUNS = /(?:^|[;{}\n]|[0-9$!,/~ ])\s*e(?:\s|$)|(?:^|[;{}\n])\s*(?:[\d$,!~/\w\\^.*-]*)\s*[wWr]\s+\S/;

export function sed(call: Call): void {
  const options = readOptions(call.argv, {
    short: "e:f:i::E::l:nrsuz",
    long: "expression= file= in-place line-length= quiet silent regexp-extended separate null-data sandbox posix debug",
  });
  const scripts = optionValues(options, "e", "expression");
  const fromFile = hasOption(options, "f", "file");
  const [first, ...rest] = options.operands;
  const programs = scripts.length > 0 ? scripts : fromFile || !first ? [] : [first];
  const filesAfter = scripts.length > 0 || fromFile ? options.operands : rest;
  for (const program of programs) {
    if (program.value === null || sedRuns(program.value))
      opaque(call, program, "a sed program that may run commands or write files");
    const written = /(?:^|[;{}\n/\s])w\s+(\/\S+)/.exec(program.value ?? "");
    if (written?.[1])
      target(call, "write", { ...program, value: written[1], shape: written[1], prefix: written[1] }, false);
  }
  if (hasOption(options, "i", "in-place")) for (const field of filesAfter) target(call, "write", field, false);
}

function sedRuns(program: string): boolean {
  for (const match of program.matchAll(
    /s([^\w\s\\])((?:(?!\1)[^\\\n]|\\.)*)\1((?:(?!\1)[^\\\n]|\\.)*)\1([a-zA-Z0-9]*)/g,
  )) {
    if (/[ew]/.test(match[4] ?? "")) return true;
  }
  const rest = program
    .replace(/[sy]([^\w\s\\])((?:(?!\1)[^\\\n]|\\.)*)\1((?:(?!\1)[^\\\n]|\\.)*)\1([a-zA-Z0-9]*)/g, "")
    .replace(/\/(?:[^/\\\n]|\\.)*\/|[aic]\\?\s.*/g, "");
  return SED_RUNS.test(rest) || /^\s*e\b/.test(rest);
}

/** Editors and pagers in batch: `vim -c '!cmd'`, `less +!cmd`. */
export function editor(call: Call): void {
  for (const [index, field] of call.argv.entries()) {
    if (index === 0) continue;
    const text = field.value ?? field.prefix;
    const command = /^-[a-zA-Z]*[csSu]$|^-[eE]s$|^--cmd$/.test(text);
    if (command || /^\+./.test(text) || /^--(?:cmd|startuptime|remote-send|remote-expr)/.test(text)) {
      if (!/^\+\d+$/.test(text)) opaque(call, field, `commands for ${call.name} that are not analysed`);
    }
  }
  if (call.stdin.kind !== "none" && /^(?:ed|ex|vi|vim|nvim)$/.test(call.name))
    opaque(call, call.argv[0], `${call.name} reads commands from its input`);
}

export function sqlite(call: Call): void {
  const options = readOptions(call.argv, {
    wordy: true,
    long: "cmd= init= separator= nullvalue= header csv json column line list batch readonly",
  });
  const code = [...options.operands.slice(1), ...optionValues(options, "cmd")];
  for (const field of code) {
    if (field.value === null || /^\s*\.|(?:^|\n)\s*\.|load_extension|edit\s*\(|writefile\s*\(/i.test(field.value))
      opaque(call, field, "commands for sqlite that may run programs");
  }
  if (hasOption(options, "init")) opaque(call, call.argv[0], "commands for sqlite from a file");
  if (call.stdin.kind === "unknown" && code.length === 0)
    opaque(call, call.argv[0], "commands for sqlite from its input");
  if (call.stdin.kind === "text" && /^\s*\.(?:sh|sy|load|once|output|excel)/m.test(call.stdin.text))
    opaque(call, call.argv[0], "commands for sqlite that may run programs");
}

/** make and its kin run recipes from files; only what is given on the command line is in doubt. */
export function make(call: Call, run: Runner): void {
  const options = readOptions(call.argv, {
    short: "C:f:I:j::l::o:W:E:O::bBdehiknpqrsStvw",
    long: "directory= file= makefile= eval= include-dir= jobs old-file= what-if=",
  });
  for (const value of optionValues(options, "eval", "E")) opaque(call, value, "rules for make that are not analysed");
  for (const value of optionValues(options, "f", "file", "makefile")) {
    if (value.value === "-" || value.shape === null || value.shape.startsWith("/dev/"))
      opaque(call, value, "rules for make that are not known");
  }
  for (const field of options.operands) {
    const shell = /^(?:SHELL|\.SHELLFLAGS|MAKEFLAGS)[:?+]?=/.exec(field.prefix);
    if (shell) unclear(call, field.span, "another shell for make");
    else if (/^[A-Z_]+=.*(?:\$\(shell|`)/.test(field.value ?? ""))
      run.text(call, { ...field, value: (field.value ?? "").replace(/^[A-Z_]+=.*?\$\(shell\s+([^)]*)\).*$/s, "$1") });
  }
}

function opaque(call: Call, field: Field | undefined, why: string): void {
  call.fact.opaque = versionless(call.name);
  unclear(call, field?.span ?? call.fact.span, why);
}
