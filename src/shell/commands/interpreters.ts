/**
 * Models interpreters of other languages. Code in an argument or on standard input is not analyzed. Programs for awk,
 * sed, sqlite and make count as harmless unless they can run commands or write files.
 */
import { type Field, type StreamContent, tail } from "../expand/field.ts";
import { normalize, versionless } from "../path.ts";
import type { Call, Runner } from "../walk/call.ts";
import { markCommandUnknown, recordTarget } from "../walk/call.ts";
import { recipes } from "../walk/project-files.ts";
import { NO_CONTENT } from "../walk/state.ts";
import { contentOf, isRemote, readContent } from "../walk/streams.ts";
import { hasOption, type OptionSpec, optionValues, readOptions } from "./options.ts";
import { hasShellEscapes } from "./shell-escapes.ts";
import { escapedCommands, noteInputReader } from "./stdin-code.ts";

interface Interpreter extends OptionSpec {
  /** Options whose value is code. */
  code: readonly string[];
  /**
   * Whether the interpreter reads code from standard input when no file is given. `fed` means that it does so only if
   * standard input is redirected.
   */
  stdin?: boolean | "fed";
  /** The operands are programs, hosts or databases and not scripts, so that code comes from standard input. */
  client?: boolean;
}

const NODE: Interpreter = {
  short: "e:p:r:ich",
  long: "eval= print= require= import= loader= experimental-loader= interactive test watch check version help",
  code: ["e", "p", "pe", "eval", "print", "r", "require", "import", "loader", "experimental-loader"],
  stdin: true,
};

export const INTERPRETERS: Record<string, Interpreter> = {
  python: { short: "bBc:dEhiIm:OqsSuvVW:xX:?", stop: true, code: ["c"], stdin: true },
  pypy: { short: "c:m:W:X:", stop: true, code: ["c"], stdin: true },
  ipython: { short: "c:m:", long: "command=", code: ["c"], stdin: true },
  node: NODE,
  nodejs: NODE,
  bun: { short: "e:p:", long: "eval= print=", code: ["e", "p", "eval", "print"] },
  deno: { code: ["eval"] },
  tsx: { short: "e:p:", long: "eval= print=", code: ["e", "p", "eval", "print"] },
  "ts-node": { short: "e:p", long: "eval=", code: ["e", "eval"], stdin: true },
  perl: { short: "0::ac:C::dD:e:E:fF:hi::I:lm:M:nps:StTuUvVwWxX", stop: true, code: ["e", "E", "M", "m"], stdin: true },
  ruby: { short: "0::acC:de:E:F:hi::I:lnpr:sST::UvVwW::x::y", stop: true, code: ["e", "r"], stdin: true },
  php: { short: "aB:c:C:d:E:f:hiH:lmnqr:R:sS:t:vwz:F:", stop: true, code: ["r", "B", "R", "E", "d", "F"], stdin: true },
  lua: { short: "e:il:vEW", stop: true, code: ["e", "l"], stdin: true },
  luajit: { short: "e:il:j:O:v", stop: true, code: ["e", "l"], stdin: true },
  osascript: { short: "e:l:i", code: ["e"], stdin: true },
  Rscript: { short: "e:", code: ["e"] },
  R: { short: "e:f:", code: ["e"], stdin: true },
  julia: {
    short: "e:E:L:",
    long: "eval= print= load=",
    code: ["e", "E", "L", "eval", "print", "load"],
    stdin: true,
  },
  ghc: { short: "e:", code: ["e"] },
  ghci: { short: "e:", code: ["e"], stdin: true },
  runghc: { code: [], stdin: true },
  elixir: { short: "e:r:", long: "eval= rpc-eval=", code: ["e", "eval", "rpc-eval", "r"] },
  erl: { wordy: true, long: "eval= s= run=", code: ["eval", "s", "run"], stdin: true },
  tclsh: { code: [], stdin: true },
  wish: { code: [], stdin: true },
  expect: { short: "c:f:", code: ["c"], stdin: true },
  emacs: {
    wordy: true,
    long: "batch eval= execute= funcall= f= l= load= script=",
    code: ["eval", "execute", "funcall", "f", "l", "load", "script"],
  },
  emacsclient: { short: "e", long: "eval", code: ["e", "eval"] },
  guile: { short: "c:e:l:s:", code: ["c", "e", "l"], stdin: true },
  racket: { short: "e:f:t:l:r:", code: ["e", "f", "t", "l"], stdin: true },
  scheme: { code: [], stdin: true },
  sbcl: { long: "eval= load= script=", code: ["eval", "load"], stdin: true },
  clisp: { short: "x:i:", code: ["x", "i"], stdin: true },
  clojure: { short: "e:M:", code: ["e"], stdin: true },
  scala: { short: "e:", code: ["e"], stdin: true },
  kotlin: { short: "e:", code: ["e"] },
  groovy: { short: "e:", code: ["e"] },
  jshell: { code: [], stdin: true },
  swift: { short: "e:", code: ["e"], stdin: true },
  ocaml: { short: "e:", code: ["e"], stdin: true },
  octave: { long: "eval=", code: ["eval"], stdin: true },
  gnuplot: { short: "e:", code: ["e"], stdin: true },
  gdb: {
    short: "x:p:",
    wordy: true,
    long: "ex= eval-command= iex= x= command= batch args p= pid=",
    code: ["ex", "eval-command", "iex", "x", "command", "args", "p", "pid"],
    stdin: true,
    client: true,
  },
  lldb: {
    short: "o:O:s:b",
    long: "one-line= source= batch",
    code: ["o", "O", "s", "one-line", "source"],
    stdin: true,
    client: true,
  },
  psql: {
    short: "c:f:d:h:U:p:",
    long: "command= file=",
    code: ["c", "command", "f", "file"],
    stdin: "fed",
    client: true,
  },
  mysql: {
    short: "e:u:p::h:D:P:",
    long: "execute= init-command= pager=",
    code: ["e", "execute", "pager", "init-command"],
    stdin: "fed",
    client: true,
  },
  mariadb: {
    short: "e:u:p::h:D:P:",
    long: "execute= init-command= pager=",
    code: ["e", "execute", "pager", "init-command"],
    stdin: "fed",
    client: true,
  },
  mongosh: { long: "eval=", code: ["eval"], stdin: "fed", client: true },
  mongo: { long: "eval=", code: ["eval"], stdin: "fed", client: true },
  "redis-cli": { long: "eval=", code: ["eval"] },
  m4: { code: [], stdin: true },
  dc: { short: "e:f:", code: ["e"], stdin: true },
  pry: { short: "e:", code: ["e"], stdin: true },
  irb: { code: [], stdin: true },
  crystal: { code: ["eval"] },
};

export function interpreter(call: Call, run: Runner): void {
  const spec = INTERPRETERS[call.name] ?? INTERPRETERS[versionless(call.name)];
  if (!spec) return;
  const { list, operands } = readOptions(call.argv, spec);
  const hands = (why: string, content: StreamContent = NO_CONTENT) => {
    const input = content.kind !== "none" && content.input === true;
    const flags = { ...(isRemote(content) ? { piped: true as const } : {}), ...(input ? { input } : {}) };
    call.fact.opaque = call.name;
    markCommandUnknown(call, call.fact.span, why, flags);
    escapedCommands(call, run, content);
  };
  const option = list.find(({ name }) => spec.code.includes(name));
  const inline = option ?? operands.find((field, index) => index === 0 && spec.code.includes(field.value ?? ""));
  if (inline) hands(`code for \`${call.name}\` is not analyzed`, inlineCode(option?.value ?? operands[1]));
  if (/^(?:perl|ruby)$/.test(versionless(call.name)) && list.some((option) => option.name === "i")) {
    for (const field of operands) recordTarget(call, "write", field, false);
  }
  const [file] = spec.client && call.stdin.kind !== "none" ? [] : operands;
  const asking = spec.client ? /^(?:version|help)$/ : /^(?:v|V|h|version|help|check|m)$/;
  const asks = list.some((option) => asking.test(option.name));
  const fed = spec.stdin === true || (spec.stdin === "fed" && call.stdin.kind !== "none");
  if (inline || asks) return;
  const path = file?.shape ? normalize(file.shape, call.cwd) : null;
  const content = path === null ? undefined : contentOf(call, path);
  if (content && content !== call.stdin) {
    if (path?.startsWith("/dev/fd/")) hands(`\`${call.name}\` reads code from a pipe`, content);
    else hands("this command runs a file that is written by the same command line", content);
    return;
  }
  if (!fed || (file && file.value !== "-" && !file.shape?.startsWith("/dev/"))) return;
  noteInputReader(call, "other");
  // Input such as SQL is data, except for the commands that the program passes to a shell.
  if (call.stdin.kind === "text" && call.stdin.input && hasShellEscapes([versionless(call.name)]))
    escapedCommands(call, run, call.stdin);
  else hands(`\`${call.name}\` reads code from standard input`, call.stdin);
}

/** Returns the content of an argument with code that a command substitution prints. */
function inlineCode(field: Field | undefined): StreamContent {
  if (!field?.uncertain || field.value !== null) {
    const { value = null, uncertain = null } = field ?? {};
    return value === null
      ? NO_CONTENT
      : { kind: "text", text: value, field: null, uncertain, input: uncertain?.input === true };
  }
  return field.content ?? { kind: "unknown", why: field.uncertain.why, remote: field.uncertain.remote === true };
}

export function awk(call: Call, run: Runner): void {
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
      program.uncertain ||
      /system|\||getline|>|close|@(?:load|include)|SYMTAB|ENVIRON.*\|/.test(comparisonsRemoved(program.value))
    ) {
      opaque(call, program, "the awk program may run commands or write files");
      awkEffects(call, run, program);
    }
  }
  if (loads) opaque(call, call.argv[0], "`awk` loads extensions");
}

/** Analyzes the literal commands and files in an awk program: `system("x")`, `"x" | getline`, `print | "x"`, `> "x"`. */
function awkEffects(call: Call, run: Runner, program: Field): void {
  const text = program.value ?? "";
  escapedCommands(call, run, literalContent(text));
  for (const [, before, after] of text.matchAll(/"((?:[^"\\]|\\.)*)"\s*\|&?\s*getline|\|&?\s*"((?:[^"\\]|\\.)*)"/g))
    run.text(call, { ...program, value: before ?? after ?? "" });
  for (const [, file] of text.matchAll(/>>?\s*"([^"]+)"/g)) recordFile(call, program, file ?? "");
}

function literalContent(text: string): StreamContent {
  return { kind: "text", text, field: null, uncertain: null };
}

/** Records that code in another language writes a file. */
function recordFile(call: Call, code: Field, path: string): void {
  recordTarget(call, "write", { ...code, value: path, shape: path, prefix: path }, false);
}

/** Removes comparisons (`$3 > 5`, `a || b`), so that only redirections (`print > "f"`) and pipes remain. */
function comparisonsRemoved(program: string): string {
  if (/\bprintf?\b[^;}\n]*[>|]/.test(program)) return program;
  return program.replace(/"(?:[^"\\]|\\.)*"|\/(?:[^/\\\n]|\\.)+\//g, '""').replace(/\|\||>=|>\s*-?[\d.$A-Za-z_]/g, " ");
}

const SED_RUNS = /(?:^|[;{}\n]|[0-9$!,/~ ])\s*e(?:\s|$)|(?:^|[;{}\n])\s*(?:[\d$,!~/\w\\^.*-]*)\s*[wWr]\s+\S/;

export function sed(call: Call, run: Runner): void {
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
      opaque(call, program, "the sed program may run commands or write files");
    const text = program.value ?? "";
    const command = /(?:^|[;{}\n\d$!])\s*e\s+([^\n]+)/.exec(text)?.[1];
    const replaced = /s([^\w\s\\])(?:(?!\1)[^\\\n]|\\.)*\1((?:(?!\1)[^\\\n]|\\.)*)\1[a-zA-Z0-9]*e/.exec(text)?.[2];
    for (const code of [command, replaced?.replace(/\\(.)/g, "$1")])
      if (code) run.text(call, { ...program, value: code });
    const written = /(?:^|[;{}\n/\s])w\s+(\/\S+)/.exec(program.value ?? "");
    if (written?.[1])
      recordTarget(call, "write", { ...program, value: written[1], shape: written[1], prefix: written[1] }, false);
  }
  if (hasOption(options, "i", "in-place")) for (const field of filesAfter) recordTarget(call, "write", field, false);
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

/** Models editor and pager commands on the command line: `vim -c '!cmd'`, `less +!cmd`. */
export function editor(call: Call, run: Runner): void {
  for (const [index, field] of call.argv.entries()) {
    if (index === 0) continue;
    const text = field.value ?? field.prefix;
    const command = /^-[a-zA-Z]*[csSu]$|^-[eE]s$|^--cmd$/.test(text);
    if (command || /^\+./.test(text) || /^--(?:cmd|startuptime|remote-send|remote-expr)/.test(text)) {
      if (/^\+\d+$/.test(text)) continue;
      opaque(call, field, `commands for \`${call.name}\` are not analyzed`);
      const given = text.startsWith("+") ? text.slice(1) : (call.argv[index + 1]?.value ?? "");
      escapedCommands(call, run, literalContent(/^n?vim?|^view/.test(call.name) ? given.replace(/^:?/, ":") : given));
    }
  }
  noteInputReader(call, "other", true);
  const live = call.stdin.kind === "text" && call.stdin.input;
  if (call.stdin.kind !== "none" && !live && /^(?:ed|ex|vi|vim|nvim)$/.test(call.name))
    opaque(call, call.argv[0], `\`${call.name}\` reads commands from standard input`);
  escapedCommands(call, run, call.stdin);
}

/** Commands of sqlite3 that run a program, or read more commands. */
const SQLITE_RUNS = /^\s*\.(?:sh|sy|load|on|ou|ex|rea|im)|load_extension|edit\s*\(/im;

/** Commands and statements of sqlite3 that write a file with an absolute path. */
const SQLITE_WRITES =
  /(?:^\s*\.(?:output|once|log|trace|backup|save|clone)\s+(?:\w+\s+)?|\binto\s+'|\battach(?:\s+database)?\s+'|\bwritefile\s*\(\s*')(\/[^'\s]+)/gim;

export function sqlite(call: Call, run: Runner): void {
  const options = readOptions(call.argv, {
    wordy: true,
    long: "cmd= init= separator= nullvalue= header csv json column line list batch readonly",
  });
  const code = [...options.operands.slice(1), ...optionValues(options, "cmd")];
  for (const field of code) {
    if (field.value === null || /^\s*\.|(?:^|\n)\s*\.|load_extension|edit\s*\(|writefile\s*\(/i.test(field.value))
      opaque(call, field, "the commands for `sqlite3` may run programs");
  }
  for (const field of code) {
    escapedCommands(call, run, literalContent(field.value ?? ""));
    for (const [, file] of (field.value ?? "").matchAll(SQLITE_WRITES)) recordFile(call, field, file ?? "");
  }
  if (hasOption(options, "init")) opaque(call, call.argv[0], "`sqlite3` reads commands from a file");
  if (code.length > 0) return;
  noteInputReader(call, "other");
  const feed = readContent(call.walk, call.stdin);
  if (feed.kind === "unknown")
    opaque(call, call.argv[0], "`sqlite3` reads commands from standard input", isRemote(feed), feed.input);
  if (feed.kind === "text" && SQLITE_RUNS.test(feed.text))
    opaque(call, call.argv[0], "the commands for `sqlite3` may run programs", isRemote(feed), feed.input);
  escapedCommands(call, run, feed);
}

/** Models make and similar tools. They run recipes from files; only code on the command line is marked as unknown. */
export function make(call: Call, run: Runner): void {
  const options = readOptions(call.argv, {
    short: "C:f:I:j::l::o:W:E:O::bBdehiknpqrsStvw",
    long: "directory= file= makefile= eval= include-dir= jobs old-file= what-if=",
  });
  for (const value of optionValues(options, "eval", "E")) {
    opaque(call, value, "rules for `make` on the command line are not analyzed");
    const text = recipes(value.value?.replaceAll(";", "\n\t") ?? "");
    if (text) run.text(call, { ...value, value: text });
  }
  for (const value of optionValues(options, "f", "file", "makefile")) {
    if (value.value === "-" || value.shape === null || value.shape.startsWith("/dev/")) {
      opaque(call, value, "the makefile is known only at run time");
      const feed = readContent(call.walk, call.stdin);
      const text = feed.kind === "text" ? recipes(feed.text) : "";
      if (text) run.text(call, { ...value, value: text });
    }
  }
  for (const field of options.operands) {
    const shell = /^(?:SHELL|\.SHELLFLAGS|MAKEFLAGS)[:?+]?=/.exec(field.prefix);
    if (shell) {
      markCommandUnknown(call, field.span, "this command sets the shell that `make` uses");
      run.text(call, tail(field, shell[0].length));
    } else if (/^[A-Z_]+=.*(?:\$\(shell|`)/.test(field.value ?? ""))
      run.text(call, { ...field, value: (field.value ?? "").replace(/^[A-Z_]+=.*?\$\(shell\s+([^)]*)\).*$/s, "$1") });
  }
}

function opaque(call: Call, field: Field | undefined, why: string, remote = false, input = false): void {
  call.fact.opaque = versionless(call.name);
  const flags = { ...(remote ? { piped: true as const } : {}), ...(input ? { input: true as const } : {}) };
  markCommandUnknown(call, field?.span ?? call.fact.span, why, flags);
}
