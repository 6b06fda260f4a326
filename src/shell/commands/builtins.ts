/** Builtins of bash: the ones that change what later commands mean, or that run text as code. */
import { arithmeticText } from "../expand/arithmetic.ts";
import { type Field, literal, tail } from "../expand/field.ts";
import { variableName } from "../expand/test-expression.ts";
import { limits } from "../limits.ts";
import { normalise } from "../path.ts";
import { type Call, type Runner, target, unclear } from "../walk/call.ts";
import { echoed, formatted } from "./builtin-output.ts";
import { declare, forget, readInto } from "./declare.ts";
import { changeFolder, popFolder, pushFolder } from "./folders.ts";
import { handlerOf } from "./handlers.ts";
import { hasOption, readOptions } from "./options.ts";
import { isHarmlessFlags, isHarmlessName } from "./shell-options.ts";

type Builtin = (call: Call, run: Runner) => void;

const NAMES = new Set(
  (
    ". : [ alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs disown echo enable " +
    "eval exec exit export false fc fg getopts hash help history jobs kill let local logout mapfile popd printf pushd pwd read " +
    "readarray readonly return set shift shopt source suspend test times trap true type typeset ulimit umask unalias unset wait"
  ).split(" "),
);

export function isBuiltin(name: string): boolean {
  return NAMES.has(name);
}

export function builtin(call: Call, run: Runner): void {
  (TABLE[call.name] ?? handlerOf(call.name))?.(call, run);
}

const TABLE: Record<string, Builtin> = {
  cd: changeFolder,
  pushd: pushFolder,
  popd: popFolder,
  export: declare,
  declare,
  typeset: declare,
  local: declare,
  readonly: declare,
  unset: forget,
  read: readInto,
  mapfile: readInto,
  readarray: readInto,
  getopts: readInto,
  echo: (call) => {
    call.output = echoed(call);
  },
  printf: (call) => {
    if (call.argv[1]?.value === "-v") readInto(call);
    else call.output = formatted(call);
  },
  set: (call) => {
    const dashes = call.argv.findIndex((field, index) => index > 0 && (field.value === "--" || field.value === "-"));
    for (const [index, field] of call.argv.entries()) {
      if (index === 0 || (dashes > 0 && index >= dashes)) continue;
      const text = field.value ?? field.prefix;
      const named = /^[-+][a-zA-Z]*o$/.test(call.argv[index - 1]?.value ?? "");
      if (named ? !isHarmlessName(text) : /^[-+]/.test(text) && !isHarmlessFlags(text)) {
        unclear(call, field.span, "changes how the rest of the text is read");
      }
    }
    if (call.argv.some((field) => /^-[a-z]*e/.test(field.value ?? "") || field.value === "errexit"))
      call.walk.state.stopsOnError = true;
    if (call.argv.some((field) => /^\+/.test(field.value ?? ""))) call.walk.state.stopsOnError = false;
    const at = call.argv.findIndex((field) => field.value === "--" || field.value === "-");
    const first = call.argv[1];
    const start = at > 0 ? at + 1 : first && !/^[-+]/.test(first.value ?? "-") ? 1 : -1;
    if (call.argv.slice(1).some((field) => field.value === null && field.many)) call.walk.state.positional = null;
    else if (start > 0) {
      call.walk.state.positional = call.argv.length > limits.listItems ? null : call.argv.slice(start);
    }
  },
  shift: (call) => {
    const count = Number(call.argv[1]?.value ?? "1");
    const { state } = call.walk;
    state.positional = state.positional && Number.isInteger(count) ? state.positional.slice(count) : null;
  },
  eval: (call, run) => {
    const words = call.argv.slice(call.argv[1]?.value === "--" ? 2 : 1);
    if (words.length > 0) run.text(call, joined(words), { sameShell: true });
  },
  source: sourced,
  ".": sourced,
  trap: (call, run) => {
    const { list, operands } = readOptions(call.argv, { short: "lpP", stop: true });
    const [code, ...signals] = operands;
    if (list.length > 0 || !code || signals.length === 0 || code.value === "" || code.value === "-") return;
    run.text(call, code, { sameShell: true });
    call.walk.later.push(() => run.text(call, code, { sameShell: true }));
  },
  alias: (call, run) => {
    for (const field of call.argv.slice(1)) {
      const equals = field.prefix.indexOf("=");
      if (equals > 0) run.text(call, tail(field, equals + 1));
    }
  },
  let: (call) => {
    const at = { walk: call.walk, origin: call.origin, nested: [] };
    for (const field of call.argv.slice(1)) arithmeticText(at, field.value, field.span);
  },
  test: tested,
  "[": tested,
  wait: (call) => {
    if (call.argv.some((field) => field.value?.startsWith("-p"))) readInto(call);
  },
  history: (call) => {
    const options = readOptions(call.argv, { short: "cd:anrwps" });
    const [file] = options.operands;
    if (file && hasOption(options, "w", "a")) target(call, "write", file, false);
    if (file && hasOption(options, "p")) unclear(call, file.span, "expands text as history");
  },
  fc: (call) => {
    if (!hasOption(readOptions(call.argv, { short: "e:lnrs" }), "l"))
      unclear(call, call.fact.span, "runs commands from the history");
  },
  shopt: (call) => {
    if (
      call.argv
        .slice(1)
        .some(
          (field) =>
            !/^-|^(?:globstar|nullglob|dotglob|failglob|nocaseglob|nocasematch|checkwinsize|histappend|inherit_errexit)$/.test(
              field.value ?? "?",
            ),
        )
    ) {
      unclear(call, call.fact.span, "changes how the rest of the text is read");
    }
  },
  enable: (call) => {
    if (call.argv.length > 1) unclear(call, call.fact.span, "changes what builtins are");
  },
  hash: (call) => {
    if (call.argv.some((field) => field.value?.startsWith("-p")))
      unclear(call, call.fact.span, "changes which program a name means");
  },
  bind: (call) => {
    if (call.argv.some((field) => /^-[xf]|"/.test(field.value ?? "?")))
      unclear(call, call.fact.span, "binds code to keys");
  },
  jobs: (call, run) => {
    if (call.argv[1]?.value === "-x") run.argv(call, call.argv.slice(2), { inShell: true });
  },
  complete: completed,
  compgen: completed,
};

function sourced(call: Call, run: Runner): void {
  const [file, ...args] = call.argv.slice(call.argv[1]?.value === "--" ? 2 : 1);
  if (!file) return;
  const path = file.shape === null ? null : normalise(file.shape, call.cwd);
  const made = path === null ? undefined : call.walk.state.written.get(path);
  const feed = path === "/dev/stdin" || path === "/dev/fd/0" ? call.stdin : made;
  if (feed?.kind === "text") run.text(call, { ...file, value: feed.text, doubt: feed.doubt }, { sameShell: true });
  if (args.length > 0) call.walk.state.positional = args;
  if (feed?.kind === "text" && feed !== made) return;
  unclear(call, file.span, "runs a file in this shell, and what is in it is not known");
}

function tested(call: Call): void {
  const at = { walk: call.walk, origin: call.origin, nested: [] };
  for (const [index, field] of call.argv.entries()) {
    const operand = call.argv[index + 1];
    if ((field.value === "-v" || field.value === "-R") && operand && operand.value !== "]") variableName(at, operand);
  }
}

function completed(call: Call, run: Runner): void {
  const options = readOptions(call.argv, { short: "abcdefgjksuvprDEIo:A:G:W:P:S:X:F:C:" });
  for (const { name, value } of options.list) {
    if (value && name === "C") {
      run.text(call, value);
      unclear(call, value.span, "runs this text with arguments of its own");
    }
    if (value && (name === "W" || name === "F") && !/^[\w .,/-]*$/.test(value.value ?? "$")) {
      unclear(call, value.span, "evaluates this text");
    }
  }
}

/** Several words as one text, as `eval` and `ssh` join them. */
export function joined(words: readonly Field[]): Field {
  const [only] = words;
  if (words.length === 1 && only) return only;
  const first = words[0] as Field;
  const span = { start: first.span.start, end: Math.max(...words.map((word) => word.span.end)) };
  if (words.every((word) => word.value !== null)) {
    const field = literal(words.map((word) => word.value).join(" "), "", span);
    return { ...field, doubt: words.find((word) => word.doubt)?.doubt ?? null };
  }
  const doubt = words.find((word) => word.value === null)?.doubt ?? null;
  return { ...literal("", "", span), value: null, shape: null, doubt };
}
