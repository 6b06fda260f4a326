/**
 * Models one command without running it: the program its name refers to, the commands it starts, and the files it
 * affects.
 */
import type { CommandFact, Span } from "../../core/facts.ts";
import { builtinOf, isBuiltin } from "../commands/builtins.ts";
import { handlerOf, isSensitive } from "../commands/handlers.ts";
import { recordOutputs } from "../commands/outputs.ts";
import { guessInnerCommand } from "../commands/unmodeled.ts";
import { hasConfusables, hasLookalikes } from "../confusable.ts";
import { type Field, literal, wordOf } from "../expand/field.ts";
import { limits } from "../limits.ts";
import { basename, normalize } from "../path.ts";
import {
  type Assigned,
  addRedirects,
  type Call,
  emptyFact,
  finishFact,
  type InnerOptions,
  inChild,
  innerOrigin,
  markCommandUnknown,
  type Runner,
  type TextOptions,
} from "./call.ts";
import { environmentCode } from "./environment.ts";
import { originalOf, physicalPath } from "./made-files.ts";
import { runsProjectFiles } from "./project-files.ts";
import type { Redirects } from "./redirect.ts";
import type { Origin } from "./state.ts";
import { fieldValue, NO_CONTENT, type State } from "./state.ts";
import {
  contentOf,
  emit,
  isRemote,
  isStandardOutput,
  joinContents,
  readContent,
  settle,
  unmodeledOutput,
  WRITTEN,
  writeTargets,
} from "./streams.ts";
import type { Sink, Walk } from "./walk.ts";
import { markOverLimit, markUnknown, pushSteps, spend } from "./walk.ts";

export interface Run {
  argv: Field[];
  assignments: Assigned[];
  redirects: Redirects | null;
  origin: Origin;
  span: Span;
  external: boolean;
}

export function runArgv(walk: Walk, run: Run): void {
  const { argv, assignments, origin, span } = run;
  const [word] = argv;
  if (!word || !spend(walk, span, argv.length + assignments.length + (run.redirects?.facts.length ?? 0))) return;
  if (origin.via.length > limits.wrappers) {
    markOverLimit(walk, span, `the command is nested in more than ${limits.wrappers} wrappers`);
    return;
  }
  const fact = emptyFact(walk, origin, span);
  fact.argv = argv.map(wordOf);
  fact.assignments = assignments.map(({ name, value }) => ({ name, value: wordOf(value) }));
  const written = word.value;
  const call: Call = {
    walk,
    origin,
    argv,
    name: written === null ? "" : basename(written),
    assignments,
    stdin: settle(walk, run.redirects?.stdin ?? walk.state.stdin),
    descriptors: descriptorsOf(walk, run.redirects),
    output: NO_CONTENT,
    cwd: walk.state.cwd,
    fact,
    external: run.external,
  };
  call.output = unmodeledOutput(call);
  for (const field of argv) {
    if (field.uncertain) fact.unknowns.push(field.uncertain);
    if (field.value !== null && hasConfusables(field.value, field.source))
      markCommandUnknown(call, field.span, "an argument contains characters that only look like ASCII");
  }
  if (run.redirects) addRedirects(call, run.redirects);
  walk.commands.push(fact);
  if (origin.input || argv.some((field) => field.uncertain?.input)) walk.input.commands.add(fact);
  collectOutput(walk, run.redirects);
  identify(call, word);
  if (assignments.length > 0) environmentCode(walk, assignments, origin, true);
  if (assignments.some(({ name }) => name === "PATH"))
    markCommandUnknown(call, word.span, "`PATH` is set for this command, so the program it runs is not known");
  if (written !== null) {
    if (!run.external && assignments.length > 0) assignDuring(call);
    applyModel(call);
  }
  checkSensitiveArguments(call);
  // The output of a wrapper or a function is the output of the commands that it runs.
  if (!fact.wrapper && fact.executable.kind !== "function") emit(walk, call.output);
  recordWritten(call);
  if (call.name === "exec" && argv.length === 1 && run.redirects) replaceDescriptors(call, run.redirects);
  finishFact(fact);
}

function descriptorsOf({ state }: Walk, redirects: Redirects | null): State["descriptors"] {
  if (!redirects || redirects.descriptors.size === 0) return state.descriptors;
  return new Map([...state.descriptors, ...redirects.descriptors]);
}

/** Collects what a command with redirected output prints, including the commands that it runs. */
function collectOutput(walk: Walk, redirects: Redirects | null): void {
  const targets = redirects?.targets.filter(({ path, stdout }) => stdout && !isStandardOutput(path)) ?? [];
  for (const { path, stdout } of redirects?.targets ?? []) if (!stdout) walk.state.written.set(path, WRITTEN);
  if (targets.length === 0) return;
  const outer = walk.sink;
  const sink: Sink = { parts: [], uncertain: false };
  walk.sink = sink;
  pushSteps(walk, () => {
    walk.sink = outer;
    writeTargets(walk, targets, joinContents(walk, sink.parts, sink.uncertain));
  });
}

/** Records the files that a command writes without redirections. Their content is known only for a few commands. */
function recordWritten(call: Call): void {
  const { written } = call.walk.state;
  const remote = call.output.kind === "unknown" && call.output.remote === true;
  for (const { path, effect } of call.fact.targets) {
    if (effect === "write" && !written.has(path)) written.set(path, remote ? { ...WRITTEN, remote } : WRITTEN);
  }
}

/** Applies `exec < file`. If the shell reads its commands from standard input, they now come from the file. */
function replaceDescriptors(call: Call, redirects: Redirects): void {
  const { state } = call.walk;
  state.descriptors = call.descriptors;
  if (!redirects.stdin) return;
  state.stdin = call.stdin;
  if (!state.readsCommands) return;
  const content = readContent(call.walk, call.stdin);
  if (content.kind !== "text") {
    markCommandUnknown(call, call.fact.span, "the shell reads its next commands from another file", {
      ...(isRemote(content) ? { piped: true } : {}),
    });
    return;
  }
  const code = { ...literal(content.text, "", call.fact.span), uncertain: content.uncertain };
  runText(call, code, { sameShell: true });
}

/** Looks up an executable. Names longer than any path that the kernel accepts do not exist. */
function findExecutable(walk: Walk, word: string, cwd: string | null): string | null {
  return word.length + (cwd?.length ?? 0) > 4096 ? null : walk.context.lookup.which(word, cwd);
}

/** Resolves the command name to a function, a builtin or a program on PATH. */
function identify(call: Call, word: Field): void {
  const { walk, fact } = call;
  const { executable } = fact;
  executable.written = word.value;
  if (word.value === null || word.glob || word.uncertain) {
    const why = word.glob ? "its name is a glob pattern" : (word.uncertain?.why ?? "its name is not known");
    markCommandUnknown(call, word.span, `the program to run cannot be determined: ${why}`);
  }
  if (word.value === null) {
    executable.kind = "unknown";
    return;
  }
  executable.name = call.name;
  if (hasLookalikes(call.name))
    markCommandUnknown(call, word.span, "the command name contains characters that only look like ASCII");
  // In zsh, `=rm` runs rm. Text that means something else in another shell is not treated as known.
  if (/^[=%]/.test(word.value)) markCommandUnknown(call, word.span, "bash and zsh read this command differently");
  const bare = !word.value.includes("/");
  const made = bare && !call.external ? walk.state.functions.get(word.value) : undefined;
  if (made?.certain === false) markCommandUnknown(call, word.span, "the function may not be defined when it is called");
  if (made) executable.kind = "function";
  else if (bare && !call.external && isBuiltin(word.value)) executable.kind = "builtin";
  else {
    executable.resolved = call.origin.remote ? null : findExecutable(walk, word.value, call.cwd);
    executable.kind = executable.resolved ? "external" : "not-found";
    if (bare && walk.state.pathChanged && !call.origin.remote) {
      executable.resolved = null;
      executable.kind = "unknown";
      markCommandUnknown(call, word.span, "`PATH` was changed, so the program to run is not known");
    }
    runsOwnFile(call, word, bare);
  }
}

/** Analyzes a program that the text itself wrote, copied or linked (`cp /bin/rm x; ./x -rf /`). */
function runsOwnFile(call: Call, word: Field, bare: boolean): void {
  const { written, made } = call.walk.state;
  if (word.value === null || (written.size === 0 && made.size === 0)) return;
  // A bare name may refer to a file that the text placed in a folder on PATH.
  const path = bare ? [...made.keys()].find((file) => basename(file) === word.value) : normalize(word.value, call.cwd);
  if (!path) return;
  const file = bare ? undefined : (written.get(path) ?? written.get(physicalPath(call.walk, path, true)));
  const original = originalOf(call.walk, path);
  if (!file && (original === null || (bare && call.fact.executable.resolved !== null))) return;
  const why = "this command runs a file that is written by the same command line";
  const content = contentOf(call, path);
  markCommandUnknown(call, word.span, why, content && isRemote(content) ? { piped: true } : {});
  if (file?.kind === "text") runText(call, { ...word, value: file.text, uncertain: null }, { label: path });
  if (original !== null)
    runInner(call, [{ ...word, value: original, prefix: original, shape: original }, ...call.argv.slice(1)]);
}

/** Applies the assignments of `x=1 f` or `x=1 eval …` while the function or builtin runs. */
function assignDuring(call: Call): void {
  const { variables } = call.walk.state;
  const before = call.assignments.map(({ name }) => [name, variables.get(name)] as const);
  for (const { name, value } of call.assignments) variables.set(name, fieldValue(value, true));
  pushSteps(call.walk, () => {
    for (const [name, value] of before) {
      if (value) call.walk.state.variables.set(name, value);
      else call.walk.state.variables.delete(name);
    }
  });
}

/** Applies the models of the command: the commands it starts, and the files it deletes and writes. */
function applyModel(call: Call): void {
  const { walk, fact, name } = call;
  if (fact.executable.kind === "function") walk.visitor.functionCall(walk, name, call.argv.slice(1), call.origin);
  if (fact.executable.kind === "builtin" || (fact.executable.kind === "function" && isBuiltin(name))) {
    (builtinOf(name) ?? handlerOf(name))?.(call, runner);
    return;
  }
  const resolved = fact.executable.resolved === null ? "" : basename(fact.executable.resolved);
  const handler = handlerOf(name) ?? (resolved === name ? undefined : handlerOf(resolved));
  if (handler) handler(call, runner);
  else guessInnerCommand(call, runner);
  // In POSIX shells, `time -o file cmd` runs the program `time`, not the keyword.
  if (/^-[a-z]/.test(name)) runInner(call, [literal("time", "", fact.span), ...call.argv]);
  if (!fact.wrapper && fact.targets.length === 0) recordOutputs(call, null);
  runsProjectFiles(call, runner);
}

/** Marks unknown arguments of commands whose arguments decide what is destroyed. */
function checkSensitiveArguments(call: Call): void {
  if (!isSensitive(call.name)) return;
  for (const field of call.argv.slice(1)) {
    if (field.uncertain && (field.shape === null || field.value !== null)) markUnknown(call.walk, field.uncertain);
    else if (field.value !== null && /^[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]/.test(field.value)) {
      markCommandUnknown(call, field.span, "an option starts with a character that only looks like a dash");
    }
  }
}

function runInner(call: Call, argv: Field[], options: InnerOptions = {}): void {
  if (argv.length === 0) return;
  const input = options.input || argv.some((field) => field.uncertain?.input);
  const origin = innerOrigin(call, { ...options, input });
  const span = spanOf(argv, call.fact);
  const assignments = options.assignments ?? [];
  const external = !options.inShell;
  inChild(call, options, () =>
    runArgv(call.walk, { argv, assignments, redirects: null, origin: { ...origin, span }, span, external }),
  );
}

function runText(call: Call, code: Field, options: TextOptions = {}): void {
  const { uncertain } = code;
  const flags = {
    ...(uncertain?.remote ? { piped: true as const } : {}),
    ...(uncertain?.over ? { over: true as const } : {}),
    ...(uncertain?.input || options.input ? { input: true as const } : {}),
  };
  if (flags.input) call.walk.input.reader = "shell";
  if (code.value === null) {
    const file = code.content ? readContent(call.walk, code.content) : null;
    if (file?.kind === "text") {
      runText(call, { ...code, value: file.text, uncertain: file.uncertain }, options);
      return;
    }
    const why = `the code to run cannot be determined: ${uncertain?.why ?? "it is known only at run time"}`;
    markCommandUnknown(call, code.span, why, flags);
    return;
  }
  if (uncertain) markCommandUnknown(call, code.span, `the code to run is not certain: ${uncertain.why}`, flags);
  const text = code.value;
  const offset = code.source.indexOf(text);
  const direct =
    call.origin.base !== null && text !== "" && offset >= 0 && code.span.end - code.span.start === code.source.length;
  const origin: Origin = {
    ...innerOrigin(call, { ...options, input: options.input || uncertain?.input }),
    source: text,
    base: direct ? code.span.start + offset : null,
    span: code.span,
  };
  if (options.sameShell) {
    pushSteps(call.walk, () => call.walk.visitor.text(call.walk, text, origin));
    return;
  }
  inChild(call, options, () => {
    childShell(call.walk.state, call.assignments.concat(options.assignments ?? []), options.positional ?? null);
    call.walk.state.readsCommands = options.readsCommands === true;
    if (options.zero) call.walk.state.variables.set("0", fieldValue(options.zero, false));
    call.walk.visitor.text(call.walk, text, origin);
  });
}

/** Limits the state to what a new shell inherits: exported variables, and no functions. */
function childShell(state: State, assignments: Assigned[], positional: Field[] | null): void {
  for (const [name, value] of state.variables) {
    if (value.exported) continue;
    if (value.kind !== "text") state.variables.delete(name);
    else
      state.variables.set(name, {
        ...value,
        uncertain: { span: { start: 0, end: 0 }, why: `\`${name}\` may not be exported` },
      });
  }
  for (const { name, value } of assignments) state.variables.set(name, fieldValue(value, true));
  state.functions.clear();
  state.positional = positional;
}

function spanOf(argv: Field[], fact: CommandFact): Span {
  const start = Math.min(...argv.map((field) => field.span.start));
  const end = Math.max(...argv.map((field) => field.span.end));
  return end > start ? { start, end } : fact.span;
}

export const runner: Runner = { argv: runInner, text: runText };
