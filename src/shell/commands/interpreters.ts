/** Interpreters of other languages: code given to them in an argument or on standard input is not analysed. */
import type { Call } from "../walk/call.ts";
import { target, unclear } from "../walk/call.ts";
import { type OptionSpec, readOptions } from "./options.ts";

interface Interpreter extends OptionSpec {
  /** Options whose argument is code. */
  code: readonly string[];
  /** Reads code from standard input when no file is given; `fed`: only matters when something is piped in. */
  stdin?: boolean | "fed";
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
  },
  lldb: {
    short: "o:O:s:b",
    long: "one-line= source= batch",
    code: ["o", "O", "s", "one-line", "source"],
    stdin: true,
  },
  psql: { short: "c:f:d:h:U:p:", long: "command= file=", code: ["c", "command", "f", "file"], stdin: "fed" },
  mysql: {
    short: "e:u:p::h:D:P:",
    long: "execute= init-command= pager=",
    code: ["e", "execute", "pager", "init-command"],
    stdin: "fed",
  },
  mariadb: {
    short: "e:u:p::h:D:P:",
    long: "execute= init-command= pager=",
    code: ["e", "execute", "pager", "init-command"],
    stdin: "fed",
  },
  mongosh: { long: "eval=", code: ["eval"], stdin: "fed" },
  mongo: { long: "eval=", code: ["eval"], stdin: "fed" },
  "redis-cli": { long: "eval=", code: ["eval"] },
  m4: { code: [], stdin: true },
  dc: { short: "e:f:", code: ["e"], stdin: true },
  pry: { short: "e:", code: ["e"], stdin: true },
  irb: { code: [], stdin: true },
  crystal: { code: ["eval"] },
};

export function interpreter(call: Call): void {
  const spec = INTERPRETERS[call.name] ?? INTERPRETERS[versionless(call.name)];
  if (!spec) return;
  const { list, operands } = readOptions(call.argv, spec);
  const hands = (why: string) => {
    call.fact.opaque = call.name;
    unclear(call, call.fact.span, why);
  };
  const inline =
    list.find((option) => spec.code.includes(option.name)) ??
    operands.find((field, index) => index === 0 && spec.code.includes(field.value ?? ""));
  if (inline) hands(`code for ${call.name} that is not analysed`);
  if (/^(?:perl|ruby)$/.test(versionless(call.name)) && list.some((option) => option.name === "i")) {
    for (const field of operands) target(call, "write", field, false);
  }
  const [file] = operands;
  const asks = list.some((option) => /^(?:v|V|h|version|help|check|m)$/.test(option.name));
  const fed = spec.stdin === true || (spec.stdin === "fed" && call.stdin.kind !== "none");
  const fromStdin = fed && !inline && !asks && (!file || file.value === "-" || file.shape?.startsWith("/dev/"));
  if (fromStdin) hands(`${call.name} reads code from its input`);
  else if (file && !inline && file.value === null && file.shape?.startsWith("/dev/fd/"))
    hands(`${call.name} reads code from a pipe`);
}

/** `python3.12` is python. */
export function versionless(name: string): string {
  return name.replace(/[-.]?\d[\d.]*$/, "") || name;
}
