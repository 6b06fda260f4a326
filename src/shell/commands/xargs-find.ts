/** Models `xargs`, `parallel` and `find -exec`, whose commands receive arguments at run time. */
import { type Field, joinFields, likely, literal, type StreamContent, unknownField } from "../expand/field.ts";
import { limits } from "../limits.ts";
import { isInside, normalize } from "../path.ts";
import { type Call, markCommandUnknown, type Runner, recordTarget } from "../walk/call.ts";
import { NO_CONTENT } from "../walk/state.ts";
import { contentOf, fileContent, isRemote, readContent } from "../walk/streams.ts";
import { hasOption, type Options, optionValue, optionValues, readOptions } from "./options.ts";
import { noteInputReader } from "./stdin-code.ts";

export function xargs(call: Call, run: Runner): void {
  const options = readOptions(call.argv, {
    short: "0a:d:E:e::i::I:l::L:n:oP:prs:tx",
    long: "null arg-file= delimiter= eof replace max-lines max-args= open-tty max-procs= interactive process-slot-var= no-run-if-empty max-chars= show-limits verbose exit",
    stop: true,
  });
  call.fact.wrapper = true;
  const command = options.operands;
  if (command.length === 0) return;
  const replace = options.list.find((option) => ["I", "i", "replace"].includes(option.name));
  const lines = hasOption(options, "0", "null") ? "\0" : (delimiter(options) ?? (replace ? "\n" : null));
  const file = optionValue(options, "a", "arg-file");
  noteInputReader(call, "other", lines !== "\n");
  const items = stdinArguments(call, file, hasOption(options, "E", "e", "eof"), lines);
  if (!replace) {
    const per = Number(optionValue(options, "n", "max-args")?.value ?? 0) || items.length;
    for (let i = 0; i < Math.max(items.length, 1); i += Math.max(per, 1)) {
      run.argv(call, [...command, ...items.slice(i, i + per)], { stdin: { kind: "none" } });
    }
    return;
  }
  const marker = replace.value?.value || "{}";
  for (const item of items)
    run.argv(
      call,
      command.map((field) => substitute(field, marker, item)),
      { stdin: { kind: "none" } },
    );
}

function delimiter(options: Options): string | null {
  const given = optionValue(options, "d", "delimiter")?.value;
  if (given === undefined || given === null) return null;
  return { "\\n": "\n", "\\t": "\t", "\\0": "\0" }[given] ?? given.slice(0, 1);
}

/** Returns the arguments on standard input if they can be determined, or else one unknown argument. */
function stdinArguments(call: Call, file: Field | null, ends: boolean, separator: string | null): Field[] {
  const path = file?.shape ? normalize(file.shape, call.cwd) : null;
  const named = path === null ? undefined : (contentOf(call, path) ?? fileContent(path));
  const feed = readContent(call.walk, file ? (named ?? NO_CONTENT) : call.stdin);
  const span = call.fact.span;
  if (ends || feed.kind !== "text") {
    const field = unknownField("", span, "arguments come from standard input", true);
    const flags = { ...(isRemote(feed) ? { remote: true as const } : {}), ...inputFlag(feed) };
    return [{ ...field, uncertain: { span, why: "arguments come from standard input", ...flags } }];
  }
  const parts = feed.text.split(separator ?? /[ \t\n]+/);
  if (parts.length > limits.links)
    return [unknownField("", span, `standard input has more than ${limits.links} arguments`, true)];
  const at = feed.field?.span ?? span;
  return parts
    .filter((part) => part !== "")
    .map((part) => {
      const field = literal(separator ? part : part.replace(/^(['"])(.*)\1$/, "$2"), "", at);
      if (feed.input) return { ...field, uncertain: { span: at, why: FROM_INPUT, input: true } };
      // Likely paths, such as those that `find` would print.
      return feed.uncertain ? { ...likely(field, field.value ?? "", feed.uncertain), glob: part.endsWith("*") } : field;
    });
}

const FROM_INPUT = "arguments come from the standard input of the command";

function inputFlag(feed: StreamContent): { input?: true } {
  return feed.kind !== "none" && feed.input ? { input: true } : {};
}

function substitute(field: Field, marker: string, item: Field): Field {
  if (field.value === null || !field.value.includes(marker)) return field;
  if (item.value === null)
    return {
      ...field,
      value: null,
      prefix: "",
      shape: null,
      certain: 0,
      uncertain: item.uncertain,
      many: field.value === marker,
    };
  const value = field.value.split(marker).join(item.value);
  return {
    ...field,
    value,
    prefix: value,
    shape: value,
    glob: field.glob || item.glob,
    uncertain: field.uncertain ?? item.uncertain,
  };
}

export function parallel(call: Call, run: Runner): void {
  const options = readOptions(call.argv, {
    short: "j:N:n:I:C:d:a:S:P:L:kmX0tuvqr",
    long: "jobs= colsep= delimiter= arg-file= sshlogin= joblog= results= delay= timeout= retries= halt= load= tmpdir= bar dry-run keep-order null pipe will-cite line-buffer ungroup no-notice progress eta max-args= recstart= recend= block= basefile= workdir= env=",
    stop: true,
  });
  call.fact.wrapper = true;
  const words = options.operands;
  const split = words.findIndex((field) => /^:::+\+?$/.test(field.value ?? ""));
  const command = split < 0 ? words : words.slice(0, split);
  const remote = hasOption(options, "S", "sshlogin");
  const given =
    split < 0 ? stdinArguments(call, optionValue(options, "a", "arg-file"), false, "\n") : words.slice(split + 1);
  if (words[split]?.value?.startsWith("::::")) {
    given.splice(0, given.length, unknownField("", call.fact.span, "arguments come from a file", true));
  }
  for (const item of given) {
    if (command.length === 0) run.text(call, item, { remote });
    else {
      const filled = command.map((field) => substitute(field, "{}", item));
      const used = command.some((field) => field.value?.includes("{}"));
      run.text(call, joinFields(used ? filled : [...filled, item]), { remote });
    }
  }
}

const FIND_WRITES = new Set(["-fprint", "-fprint0", "-fls", "-fprintf"]);

export function find(call: Call, run: Runner): void {
  let at = 1;
  while (at < call.argv.length && /^-[HLPDO]/.test(call.argv[at]?.value ?? ""))
    at += call.argv[at]?.value === "-D" ? 2 : 1;
  const starts: Field[] = [];
  for (; at < call.argv.length; at++) {
    const field = call.argv[at] as Field;
    if (/^[-(!,]/.test(field.value ?? field.prefix)) break;
    starts.push(field);
  }
  if (starts.length === 0) starts.push(literal(".", "", call.fact.span));
  const follows = call.argv.slice(1, at).some((field) => /^-[HL]$/.test(field.value ?? ""));
  const chosen = call.argv
    .slice(at)
    .some((field) => /^-i?(?:name|path|regex|wholename|newer|mtime|mmin|empty|size)/.test(field.value ?? ""));
  const reached = starts.map((start) => (chosen ? belowStart(start) : follows ? inside(start) : start));
  for (let i = at; i < call.argv.length; i++) {
    const word = call.argv[i] as Field;
    if (word.value === null) {
      if (word.many)
        markCommandUnknown(
          call,
          word.span,
          "the `find` expression may delete files or run commands, and is known only at run time",
        );
    } else if (word.value === "-delete") for (const start of reached) recordTarget(call, "delete", start, true);
    else if (FIND_WRITES.has(word.value)) {
      const file = call.argv[i + 1];
      if (file) recordTarget(call, "write", file, false);
    } else if (word.value === "-files0-from")
      markCommandUnknown(call, word.span, "`find` reads its starting points from a file");
    else if (/^-(?:exec|execdir|ok|okdir)$/.test(word.value)) {
      const end = call.argv.findIndex(
        (field, index) =>
          index > i && (field.value === ";" || (field.value === "+" && call.argv[index - 1]?.value === "{}")),
      );
      const command = call.argv.slice(i + 1, end < 0 ? undefined : end);
      for (const start of reached)
        run.argv(
          call,
          command.map((field) => withFoundPath(field, start)),
          { label: `find ${word.value}` },
        );
      i = end < 0 ? call.argv.length : end;
    }
  }
  const uncertain = { span: call.fact.span, why: "the files that `find` prints are known only at run time" };
  const below = reached
    .map((start) => (start.value === null ? "" : `${start.value.replace(/\/$/, "")}/*`))
    .filter(Boolean);
  call.output = { kind: "text", text: `${below.join("\n")}\n`, field: null, uncertain, pattern: true };
}

/** Models the output of `ls`: the names in a folder, or the operands themselves with `-d` or a glob. */
export function list(call: Call): void {
  const { list: flags, operands } = readOptions(call.argv, { short: "I:T:w:", long: "ignore= hide= width= directory" });
  const whole = flags.some(({ name }) => name === "d" || name === "directory");
  const names = operands.map((field) => (whole || field.glob ? field.shape : "*"));
  // Names from folders of the workspace are harmless, and an approval is bound to the folder instead.
  const outside =
    operands.some((field) => field.shape?.startsWith("/")) || !isInside(call.cwd ?? "/", call.walk.context.workspace);
  if (names.some((name) => name === null) || !outside) return;
  const uncertain = { span: call.fact.span, why: "the files that `ls` prints are known only at run time" };
  call.output = { kind: "text", text: `${names.join("\n") || "*"}\n`, field: null, uncertain, pattern: true };
}

/** Models `fd PATTERN FOLDER… -x cmd`, which runs a command for the files it finds. */
export function fd(call: Call, run: Runner): void {
  const at = call.argv.findIndex((field) => /^(?:-[xX]|--exec|--exec-batch)$/.test(field.value ?? ""));
  if (at < 0) return;
  const options = readOptions(call.argv.slice(0, at), {
    short: "HIusgFaLpd:t:e:S:E:c:j:o:1q0",
    long: "search-path= base-directory= max-depth= type= extension= exclude= size= owner= threads= changed-within= changed-before=",
  });
  const named = optionValues(options, "search-path", "base-directory");
  const starts = named.length > 0 ? named : options.operands.slice(1);
  if (starts.length === 0) starts.push(literal(".", "", call.fact.span));
  const command = call.argv.slice(at + 1);
  if (!command.some((field) => field.value?.includes("{"))) command.push(literal("{}", "", call.fact.span));
  for (const start of starts)
    run.argv(
      call,
      command.map((field) => withFoundPath(field, start)),
      { label: `${call.name} ${call.argv[at]?.value}` },
    );
}

/** Returns the starting point with a final slash, because `find -L` searches the folder that a link points to. */
function inside(start: Field): Field {
  if (start.value === null) return start;
  const value = `${start.value.replace(/\/$/, "")}/`;
  return { ...start, value, prefix: value, shape: value };
}

/**
 * Returns a path below the starting point, because the expression selects only some files. For `/`, returns the
 * starting point itself.
 */
function belowStart(start: Field): Field {
  if (start.shape === null || /^\/+$/.test(start.shape)) return start;
  const value = `${start.shape}/_`;
  return { ...start, value: start.value === null ? null : value, prefix: value, shape: value };
}

/** Replaces `{}` with the starting point, which represents all paths below it. */
function withFoundPath(field: Field, start: Field): Field {
  if (!field.value?.includes("{}")) return field;
  const uncertain = start.uncertain ?? {
    span: field.span,
    why: "the files that `find` matches are known only at run time",
  };
  if (start.shape === null)
    return { ...field, value: null, prefix: "", shape: null, certain: 0, uncertain, many: false };
  const value = field.value.split("{}").join(start.shape);
  const glob = field.glob || start.glob;
  // Within a longer word, the path becomes part of code or of another path, so the value is only likely.
  if (field.value !== "{}") return { ...likely(field, value, uncertain), glob };
  return { ...field, value: null, prefix: "", shape: value, glob, certain: 0, uncertain };
}
