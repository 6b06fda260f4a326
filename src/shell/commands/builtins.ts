/** Models the bash builtins that change the meaning of later commands or run text as code. */
import { arithmeticText, variableName } from "../expand/arithmetic.ts";
import { type Field, joinFields, tail } from "../expand/field.ts";
import { limits } from "../limits.ts";
import { isInside, normalize } from "../path.ts";
import { type Call, markCommandUnknown, type Runner, recordTarget } from "../walk/call.ts";
import { environmentCode } from "../walk/environment.ts";
import { fieldValue } from "../walk/state.ts";
import { contentOf, fileContent, isRemote, readContent } from "../walk/streams.ts";
import { setVariable } from "../walk/walk.ts";
import { echoOutput, printfOutput } from "./builtin-output.ts";
import { hasOption, readOptions } from "./options.ts";
import { readInto } from "./read-into.ts";
import { isHarmlessFlags, isHarmlessOption } from "./shells.ts";
import { noteInputReader } from "./stdin-code.ts";

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

export function builtinOf(name: string): Builtin | undefined {
  return TABLE[name];
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
  unset,
  read: readInto,
  mapfile: readInto,
  readarray: readInto,
  getopts: readInto,
  echo: (call) => {
    call.output = echoOutput(call);
  },
  printf: (call) => {
    if (call.argv[1]?.value === "-v") readInto(call);
    else call.output = printfOutput(call);
  },
  set: (call) => {
    const dashes = call.argv.findIndex((field, index) => index > 0 && (field.value === "--" || field.value === "-"));
    for (const [index, field] of call.argv.entries()) {
      if (index === 0 || (dashes > 0 && index >= dashes)) continue;
      const text = field.value ?? field.prefix;
      const named = /^[-+][a-zA-Z]*o$/.test(call.argv[index - 1]?.value ?? "");
      if (named ? !isHarmlessOption(text) : /^[-+]/.test(text) && !isHarmlessFlags(text)) {
        markCommandUnknown(call, field.span, "this command changes how bash reads the rest of the text");
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
    if (words.length > 0) run.text(call, joinFields(words), { sameShell: true });
  },
  source: source,
  ".": source,
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
    for (const field of call.argv.slice(1)) arithmeticText(call.walk, field.value, field.span);
  },
  test: test,
  "[": test,
  wait: (call) => {
    if (call.argv.some((field) => field.value?.startsWith("-p"))) readInto(call);
  },
  history: (call) => {
    const options = readOptions(call.argv, { short: "cd:anrwps" });
    const [file] = options.operands;
    if (file && hasOption(options, "w", "a")) recordTarget(call, "write", file, false);
    if (file && hasOption(options, "p"))
      markCommandUnknown(call, file.span, "this command expands text from the shell history");
  },
  fc: (call) => {
    if (!hasOption(readOptions(call.argv, { short: "e:lnrs" }), "l"))
      markCommandUnknown(call, call.fact.span, "this command runs commands from the shell history");
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
      markCommandUnknown(call, call.fact.span, "this command changes how bash reads the rest of the text");
    }
  },
  enable: (call) => {
    if (call.argv.length > 1)
      markCommandUnknown(call, call.fact.span, "this command changes which builtins are available");
  },
  hash: (call) => {
    if (call.argv.some((field) => field.value?.startsWith("-p")))
      markCommandUnknown(call, call.fact.span, "this command changes which program a name refers to");
  },
  bind: (call) => {
    if (call.argv.some((field) => /^-[xf]|"/.test(field.value ?? "?")))
      markCommandUnknown(call, call.fact.span, "this command binds code to keys");
  },
  jobs: (call, run) => {
    if (call.argv[1]?.value === "-x") run.argv(call, call.argv.slice(2), { inShell: true });
  },
  complete: complete,
  compgen: complete,
};

function source(call: Call, run: Runner): void {
  const [file, ...args] = call.argv.slice(call.argv[1]?.value === "--" ? 2 : 1);
  if (!file) return;
  const path = file.shape === null ? null : normalize(file.shape, call.cwd);
  const given = path === null ? undefined : (contentOf(call, path) ?? fileContent(path));
  const feed = given && readContent(call.walk, given);
  const own = given === call.stdin;
  if (own) noteInputReader(call, "shell");
  const input = feed?.kind === "text" && feed.input === true;
  if (feed?.kind === "text")
    run.text(call, { ...file, value: feed.text, uncertain: feed.uncertain }, { sameShell: true, input });
  if (args.length > 0) call.walk.state.positional = args;
  if (feed?.kind === "text" && own) return;
  markCommandUnknown(
    call,
    file.span,
    "this command runs a file in the current shell, and the contents of the file are not analyzed",
    feed && isRemote(feed) ? { piped: true } : {},
  );
}

function test(call: Call): void {
  for (const [index, field] of call.argv.entries()) {
    const operand = call.argv[index + 1];
    if ((field.value === "-v" || field.value === "-R") && operand && operand.value !== "]")
      variableName(call.walk, operand);
  }
}

function complete(call: Call, run: Runner): void {
  const options = readOptions(call.argv, { short: "abcdefgjksuvprDEIo:A:G:W:P:S:X:F:C:" });
  for (const { name, value } of options.list) {
    if (value && name === "C") {
      run.text(call, value);
      markCommandUnknown(call, value.span, "this command runs the text with additional arguments");
    }
    if (value && (name === "W" || name === "F") && !/^[\w .,/-]*$/.test(value.value ?? "$")) {
      markCommandUnknown(call, value.span, "this command evaluates the text as code");
    }
  }
}

/** Models `export`, `declare` and similar builtins. Bash also evaluates subscripts in the variable names. */
function declare(call: Call): void {
  const options = readOptions(call.argv, { short: "aAfFgiIlnprtuxU" });
  const { walk } = call;
  const exported = call.name === "export" || hasOption(options, "x");
  if (hasOption(options, "n") && call.name !== "export")
    markCommandUnknown(call, call.fact.span, "this command makes one variable refer to another");
  if (exported && hasOption(options, "f"))
    markCommandUnknown(call, call.fact.span, "this command exports functions to other shells");
  for (const field of options.operands) {
    variableName(call.walk, {
      ...field,
      value: field.value ?? (field.prefix.includes("=") ? field.prefix : null),
      uncertain: null,
    });
    const equals = field.prefix.indexOf("=");
    if (equals > 0 && hasOption(options, "i")) arithmeticText(call.walk, tail(field, equals + 1).shape, field.span);
    // Outside a function, `local` fails and sets nothing.
    if (call.name === "local" && !walk.state.savedLocals) continue;
    const name = (equals < 0 ? field.prefix : field.prefix.slice(0, equals)).replace(/\+$|\[.*$/, "");
    if (call.name !== "export" && call.name !== "readonly" && !hasOption(options, "g")) saveLocal(call, name);
    if (hasOption(options, "i")) walk.state.integers.add(name);
    if (equals < 0) {
      const before = walk.state.variables.get(name);
      if (before && exported) walk.state.variables.set(name, { ...before, exported: true });
      continue;
    }
    const value = tail(field, equals + 1);
    const plain = !/[+\]]$/.test(field.prefix.slice(0, equals)) && !hasOption(options, "l", "u", "a", "A");
    setVariable(walk, name, plain ? fieldValue(value, exported) : { kind: "unknown", exported });
    environmentCode(walk, [{ name, value }], call.origin);
  }
}

function saveLocal(call: Call, name: string): void {
  const { savedLocals, variables } = call.walk.state;
  if (savedLocals && !savedLocals.has(name)) savedLocals.set(name, variables.get(name));
}

function unset(call: Call): void {
  const { operands, list } = readOptions(call.argv, { short: "fvn" });
  for (const field of operands) {
    variableName(call.walk, field);
    if (field.value === null) continue;
    if (field.value.includes("["))
      setVariable(call.walk, field.value.replace(/\[.*$/, ""), { kind: "unknown", exported: false });
    else if (!list.some((option) => option.name === "f")) call.walk.state.variables.delete(field.value);
    else call.walk.state.functions.delete(field.value);
    if (field.value === "IFS" || field.value === "PATH")
      setVariable(call.walk, field.value, { kind: "unknown", exported: false });
  }
}

/** Models `cd`, which changes the directory that relative paths start from. */
function changeFolder(call: Call): void {
  const { operands } = readOptions(call.argv, { short: "LPe@" });
  changeCwd(call, destination(call, operands[0]));
}

function pushFolder(call: Call): void {
  const { state } = call.walk;
  const [operand] = readOptions(call.argv, { short: "n" }).operands;
  const before = state.cwd;
  if (!operand || /^[+-]\d/.test(operand.value ?? "")) {
    const top = state.directoryStack.pop() ?? null;
    changeCwd(call, operand ? null : top);
  } else changeCwd(call, destination(call, operand));
  state.directoryStack.push(before);
}

function popFolder(call: Call): void {
  changeCwd(call, call.walk.state.directoryStack.pop() ?? null);
}

function destination(call: Call, operand: Field | undefined): string | null {
  const { state, context } = call.walk;
  if (!operand) {
    const home = state.variables.get("HOME");
    return home ? (home.kind === "text" ? normalize(home.text, state.cwd) : null) : context.home;
  }
  if (operand.value === "-") {
    const previous = state.variables.get("OLDPWD");
    return previous ? (previous.kind === "text" ? normalize(previous.text, state.cwd) : null) : state.previousCwd;
  }
  if (operand.value === "") return state.cwd;
  if (operand.shape === null || operand.glob || (operand.uncertain && operand.value !== null)) return null;
  // With CDPATH, a relative path may refer to another directory.
  const search = state.variables.get("CDPATH");
  if (search && !/^(?:\/|\.{1,2}(?:\/|$))/.test(operand.shape)) {
    markCommandUnknown(call, operand.span, "`CDPATH` is set, so the working directory is not known");
    const [first] = search.kind === "text" ? search.text.split(":").filter((folder) => !/^\.?$/.test(folder)) : [];
    return first === undefined ? null : normalize(`${first}/${operand.shape}`, state.cwd);
  }
  const folder = normalize(operand.shape, state.cwd);
  return folder !== null && folder.length > 4096 ? null : folder;
}

/** Reports whether a `cd` to this folder cannot fail: it contains the workspace or home directory, or is `/tmp`. */
function alwaysExists(call: Call, folder: string | null): boolean {
  const { workspace, home } = call.walk.context;
  return folder !== null && (isInside(workspace, folder) || isInside(home, folder) || folder === "/tmp");
}

function changeCwd(call: Call, folder: string | null): void {
  const { state } = call.walk;
  if (state.cwd !== null && !state.stopsOnError && !alwaysExists(call, folder)) {
    state.fallbacks = [...state.fallbacks, state.cwd].slice(-8);
  }
  state.previousCwd = state.cwd;
  state.cwd = folder;
  // The shell sets these variables, so values that the text assigned before no longer apply.
  state.variables.delete("PWD");
  state.variables.delete("OLDPWD");
}
