/** Visits compound commands: pushes the commands inside them onto the walk, in the state in which they would run. */
import { arithmetic, testExpression } from "../expand/arithmetic.ts";
import { expand, expander, expandValue } from "../expand/expand.ts";
import type { Field } from "../expand/field.ts";
import { limits } from "../limits.ts";
import {
  type CompoundList,
  type ParsedScript,
  parse,
  type Statement,
  type SyntaxNode,
  type WordPart,
} from "../parse.ts";
import { emitKeyword } from "./call.ts";
import { visitCommand } from "./command.ts";
import { redirects } from "./redirect.ts";
import type { Origin, Value } from "./state.ts";
import { copyState, fieldValue, isInteger, mergeStates, type State, type StreamContent, spanAt } from "./state.ts";
import { captureOutput, isStandardOutput, settle, writeTargets } from "./streams.ts";
import type { Nested, Walk } from "./walk.ts";
import { isolated, markOverLimit, markUnknown, pushSteps } from "./walk.ts";

const UNKNOWN_VALUE: Value = { kind: "unknown", exported: false };

/** Returns one step for each iteration, which sets the loop variable. */
function unroll(walk: Walk, name: string, fields: Field[] | null, origin: Origin): (() => void)[] {
  const set = (value: Value) => () => {
    walk.state.variables.set(name, value);
  };
  if (!fields || fields.some((field) => field.many)) return [set(UNKNOWN_VALUE)];
  if (fields.length > 1 && fields.every((field) => /^-?\d+$/.test(field.value ?? ""))) {
    return [set({ kind: "integer", exported: false })];
  }
  if (fields.length > limits.loopValues || fields.length * origin.rounds > limits.loopRounds)
    return [set(UNKNOWN_VALUE)];
  return fields.map((field) => set(fieldValue(field, false)));
}

/** Marks the variables that the loop sets as unknown, since later iterations start with the values of earlier ones. */
function forgetLoopVariables(walk: Walk, source: string, except: string | undefined): void {
  const { variables, functions } = walk.state;
  const text = functions.size > 0 ? [source, ...[...functions.values()].map((body) => body.source)].join("\n") : source;
  for (const [name, value] of variables) {
    if (name === except || !new RegExp(`(?:^|[^$\\w{])${name}(?!\\w)`).test(text)) continue;
    const numeric =
      isInteger(value) &&
      !new RegExp(`(?:^|[^$\\w{])${name}(?:\\[[^\\]]*\\])?\\+?=(?!\\$\\(\\(|-?\\d+(?![\\w$.]))`).test(text);
    variables.set(
      name,
      numeric && !/\b(?:read|mapfile|printf|eval|source|declare|local|export)\b/.test(text)
        ? { kind: "integer", exported: value.exported }
        : UNKNOWN_VALUE,
    );
  }
  if (/(?:^|[^\w-])(?:cd|pushd|popd)(?!\w)/.test(text)) {
    walk.state.cwd = null;
    walk.state.directoryStack = [];
  }
}

/** Parses a text and walks it in the current state. */
export function visitText(walk: Walk, text: string, origin: Origin): void {
  if (origin.reentry > limits.reentry) {
    markOverLimit(walk, origin.span, `command strings are nested more than ${limits.reentry} levels deep`);
    return;
  }
  walk.budget.parsed -= text.length;
  if (walk.budget.parsed < 0) {
    markOverLimit(walk, origin.span, `the text and its nested command strings exceed ${limits.parsed} characters`);
    return;
  }
  const parsed = parse(text);
  if (!parsed.script) {
    markOverLimit(walk, spanAt(origin, parsed.problem.at, text.length), parsed.problem.why);
    return;
  }
  visitScript(walk, parsed.script, origin);
}

function visitScript(walk: Walk, script: ParsedScript, origin: Origin): void {
  for (const error of script.errors ?? []) {
    markUnknown(walk, {
      span: spanAt(origin, error.pos, Math.max(error.pos, script.end)),
      why: `the text is not valid bash: ${error.message}`,
    });
  }
  visitStatements(walk, script.commands, origin);
}

function visitStatements(walk: Walk, statements: readonly Statement[], origin: Origin): void {
  pushSteps(walk, ...statements.map((statement) => () => visitStatement(walk, statement, origin)));
}

function visitStatement(walk: Walk, statement: Statement, origin: Origin): void {
  if (statement.background) {
    isolated(walk, () => visit(walk, statement.command, { ...origin, background: true }));
  } else visit(walk, statement.command, origin);
}

function visitList(walk: Walk, list: CompoundList | SyntaxNode, origin: Origin): void {
  if (list.type === "CompoundList") visitStatements(walk, list.commands, origin);
  else visit(walk, list, origin);
}

/** Visits scripts found inside words, each in its own copy of the state, before the remaining steps. */
export function visitNested(walk: Walk, nested: readonly Nested[]): void {
  for (let i = nested.length - 1; i >= 0; i--) {
    const { script, origin, part, path, reads } = nested[i] as Nested;
    if (losesSeparator(script, origin)) {
      markUnknown(walk, {
        span: spanAt(origin, script.pos, script.end),
        why: "the parser may misread commands that follow a here-document in a substitution",
      });
    }
    const visitIt = () => visitScript(walk, script, origin);
    isolated(walk, () => {
      if (reads) walk.state.stdin = settle(walk, written(walk, path));
      captureOutput(walk, visitIt, (content) => {
        if (part) rememberOutput(walk, part, content);
        else if (path !== undefined && !reads) walk.state.written.set(path, likelyContent(content, origin));
      });
    });
  }
}

/** Keeps the output of a command substitution if it changes how the word is expanded. */
function rememberOutput(walk: Walk, part: WordPart, content: StreamContent): void {
  const known =
    content.kind === "text" ? !content.pattern : content.kind === "unknown" && (content.remote || content.paths);
  if (known) walk.outputs.set(part, content);
}

/** Returns the content of a process substitution. Like the output of a command substitution, it is never certain. */
function likelyContent(content: StreamContent, { span }: Origin): StreamContent {
  if (content.kind !== "text" || content.uncertain) return content;
  const why = "the output of a process substitution is known only at run time";
  return { ...content, uncertain: { span, why, ...(content.input ? { input: true } : {}) } };
}

/** Returns what a command has written to the process substitution `>(…)`. */
function written(walk: Walk, path: string | undefined): StreamContent {
  return walk.state.written.get(path ?? "") ?? { kind: "unknown", why: "the output of a command" };
}

/**
 * Reports whether bash may lose a command separator: bash 5.2 prints a substitution back from its parse tree and drops
 * the `;` between commands that follow a here-document.
 */
function losesSeparator(script: ParsedScript, origin: Origin): boolean {
  const simple = script.commands.every(({ command }) => command.type === "Command" || command.type === "Pipeline");
  if (simple && script.commands.length <= 2) return false;
  return /(?<!<)<<(?!<)/.test(origin.source.slice(script.pos, script.end));
}

/** Compound commands whose commands may not run, or may run several times. */
const CONDITIONAL = new Set(["AndOr", "If", "Case", "While", "For", "Select", "ArithmeticFor"]);

export function visit(walk: Walk, node: SyntaxNode, outer: Origin): void {
  if (node.type === "Command") {
    visitCommand(walk, node, outer);
    return;
  }
  const origin = { ...outer, nesting: outer.nesting + 1 };
  if (origin.nesting > limits.nesting) {
    markOverLimit(
      walk,
      spanAt(origin, node.pos, node.end),
      `commands are nested more than ${limits.nesting} levels deep`,
    );
    return;
  }
  if (walk.sink && CONDITIONAL.has(node.type)) walk.sink.uncertain = true;
  const at = expander(walk, origin);
  switch (node.type) {
    case "Pipeline":
      visitPipeline(walk, node.commands, origin);
      return;
    case "AndOr":
      visitChain(walk, node.commands, node.operators, origin);
      return;
    case "CompoundList":
      visitStatements(walk, node.commands, origin);
      return;
    case "BraceGroup":
      visitList(walk, node.body, origin);
      return;
    case "Subshell":
      isolated(walk, () => visitList(walk, node.body, origin));
      return;
    case "If":
      visitBranches(
        walk,
        node.clause,
        [[node.then], ...node.elif.map((branch) => [branch.clause, branch.then]), node.else ? [node.else] : []],
        origin,
      );
      return;
    case "Case":
      expandValue(at, node.word);
      for (const item of node.items) for (const pattern of item.pattern) expandValue(at, pattern);
      visitBranches(walk, null, [[], ...node.items.map((item) => [item.body])], origin);
      visitNested(walk, at.nested);
      return;
    case "While":
      visitLoop(walk, [node.clause, node.body], node, origin);
      return;
    case "ArithmeticFor":
      for (const part of [node.initialize, node.test, node.update]) {
        if (part) arithmetic(at, part, spanAt(origin, node.pos, node.end));
      }
      visitLoop(walk, [node.body], node, origin);
      visitNested(walk, at.nested);
      return;
    case "For":
    case "Select": {
      const fields = node.wordlist?.flatMap((word) => expand(at, word, "word")) ?? walk.state.positional;
      const values = unroll(walk, node.name.text, node.type === "For" ? fields : null, origin);
      const inner = { ...origin, rounds: origin.rounds * values.length };
      const rounds = values.map(
        (set) => () => pushSteps(walk, set, () => visitLoop(walk, [node.body], node, inner, node.name.text)),
      );
      const early = /\b(?:break|return|exit)\b/.test(origin.source.slice(node.body.pos, node.body.end));
      pushSteps(walk, ...rounds, () => {
        if (early) walk.state.variables.set(node.name.text, { kind: "unknown", exported: false });
      });
      visitNested(walk, at.nested);
      return;
    }
    case "Function":
      defineFunction(walk, node.name.value, node.body, origin);
      return;
    case "Coproc":
      isolated(walk, () => visitList(walk, node.body, { ...origin, background: true }));
      return;
    case "Redirected": {
      const found = redirects(at, node.redirects);
      emitKeyword(walk, origin, found, spanAt(origin, node.pos, node.end));
      const { stdin, descriptors } = walk.state;
      const targets = found.targets.filter(({ path, stdout }) => stdout && !isStandardOutput(path));
      const body = () => visit(walk, node.command, origin);
      pushSteps(
        walk,
        () => {
          if (found.stdin) walk.state.stdin = settle(walk, found.stdin);
          walk.state.descriptors = new Map([...descriptors, ...found.descriptors]);
          if (targets.length === 0) body();
          else captureOutput(walk, body, (content) => writeTargets(walk, targets, content));
        },
        () => {
          walk.state.stdin = stdin;
          walk.state.descriptors = descriptors;
        },
        () =>
          visitNested(
            walk,
            at.nested.filter(({ reads }) => reads),
          ),
      );
      visitNested(
        walk,
        at.nested.filter(({ reads }) => !reads),
      );
      return;
    }
    case "TestCommand":
      testExpression(at, node.expression);
      visitNested(walk, at.nested);
      return;
    case "ArithmeticCommand":
      if (node.expression) arithmetic(at, node.expression, spanAt(origin, node.pos, node.end));
      visitNested(walk, at.nested);
      return;
    default:
      markUnknown(walk, {
        span: spanAt(origin, node.pos, node.end),
        why: `the parser found a ${node.type} instead of a command`,
      });
  }
}

function visitPipeline(walk: Walk, commands: readonly SyntaxNode[], origin: Origin): void {
  if (commands.length === 1 && commands[0]) {
    visit(walk, commands[0], origin);
    return;
  }
  let feed: StreamContent = walk.state.stdin;
  const steps = commands.map((command, index) => () => {
    isolated(walk, () => {
      walk.state.stdin = feed;
      const step = () => visit(walk, command, { ...origin, piped: true });
      if (index === commands.length - 1) step();
      else {
        captureOutput(walk, step, (content) => {
          feed = content;
        });
      }
    });
  });
  pushSteps(walk, ...steps);
}

/** Visits `a && b || c`. The changes that `b` and `c` make are certain only while they run. */
function visitChain(walk: Walk, commands: readonly SyntaxNode[], operators: readonly string[], origin: Origin): void {
  const ways: State[] = [];
  let before: State;
  const steps = commands.map((command, index) => () => {
    const after = copyState(walk.state);
    const failed = operators[index - 1] === "||";
    // In `a || b && c`, `c` may run without `b`.
    if (index > 1 && operators[index - 1] !== operators[index - 2]) {
      for (const way of ways) walk.state = mergeStates(walk.state, way);
    }
    // A command after `||` runs in the directory that a failed `cd` left unchanged.
    if (failed) Object.assign(walk.state, { cwd: before.cwd, fallbacks: before.fallbacks });
    before = copyState(walk.state);
    const { fallbacks } = walk.state;
    pushSteps(
      walk,
      () => visit(walk, command, origin),
      () => {
        // A command after `&&` runs only if the preceding `cd` succeeded, and nothing runs after `|| exit`.
        const leaves = failed && /^\{?\s*(?:exit|return)\b/.test(origin.source.slice(command.pos, command.end));
        if (leaves) walk.state = { ...after, fallbacks };
        else if (index > 0) ways.push(after);
        if (operators[index] === "&&") walk.state.fallbacks = fallbacks;
      },
    );
  });
  pushSteps(walk, ...steps, () => {
    for (const way of ways) walk.state = mergeStates(walk.state, way);
  });
}

function visitBranches(walk: Walk, clause: CompoundList | null, branches: CompoundList[][], origin: Origin): void {
  const ends: State[] = [];
  let base: State;
  const steps = branches.map((branch) => () => {
    walk.state = copyState(base);
    pushSteps(walk, ...branch.map((list) => () => visitList(walk, list, origin)), () => ends.push(walk.state));
  });
  pushSteps(
    walk,
    () => clause && visitList(walk, clause, origin),
    () => {
      base = walk.state;
    },
    ...steps,
    () => {
      walk.state = ends.reduce((merged, end) => mergeStates(merged, end));
    },
  );
}

function visitLoop(walk: Walk, lists: CompoundList[], node: SyntaxNode, origin: Origin, variable?: string): void {
  const before = copyState(walk.state);
  forgetLoopVariables(walk, origin.source.slice(node.pos, node.end), variable);
  pushSteps(walk, ...lists.map((list) => () => visitList(walk, list, origin)), () => {
    walk.state = mergeStates(walk.state, before);
  });
}

function defineFunction(walk: Walk, name: string, body: SyntaxNode, origin: Origin): void {
  walk.state.functions.set(name, { body, source: origin.source.slice(body.pos, body.end), origin, certain: true });
  const state = copyState(walk.state);
  walk.later.push(() => {
    if (walk.called.has(body)) return;
    const unsettled = copyState(state);
    unsettled.variables.clear();
    unsettled.positional = null;
    walk.state = unsettled;
    visit(walk, body, { ...origin, via: [...origin.via, `${name}()`] });
  });
}

/** Visits the body of a function with these arguments. */
export function visitFunction(walk: Walk, name: string, args: State["positional"], origin: Origin): void {
  const found = walk.state.functions.get(name);
  if (!found) return;
  walk.called.add(found.body);
  const label = `${name}()`;
  // A recursive function is analyzed twice, since arguments and variables change between calls, but not further.
  if (origin.calls.filter((body) => body === found.body).length >= 2) {
    markUnknown(walk, { span: origin.span, why: `the function \`${name}\` calls itself` });
    return;
  }
  if (origin.reentry >= limits.reentry) {
    markOverLimit(walk, origin.span, `function calls are nested more than ${limits.reentry} levels deep`);
    return;
  }
  const before = walk.state.positional;
  const early = /\b(?:return|exit|break|continue)\b/.test(found.source) ? copyState(walk.state) : null;
  const outer = walk.state.savedLocals;
  const locals: State["savedLocals"] = new Map();
  pushSteps(
    walk,
    () => {
      walk.state.positional = args;
      walk.state.savedLocals = locals;
      visit(walk, found.body, {
        ...found.origin,
        via: [...origin.via, label],
        calls: [...origin.calls, found.body],
        reentry: origin.reentry + 1,
        remote: origin.remote,
        background: origin.background,
      });
    },
    () => {
      walk.state.positional = before;
      walk.state.savedLocals = outer;
      for (const [name, value] of locals) {
        if (value) walk.state.variables.set(name, value);
        else walk.state.variables.delete(name);
      }
      // The function may have returned before it set anything.
      if (early) walk.state = mergeStates(walk.state, early);
    },
  );
}
