/** Models shells, which run code from an argument, a file or standard input. */

import { normalize } from "../path.ts";
import { type Call, markCommandUnknown, type Runner } from "../walk/call.ts";
import { contentOf, isRemote } from "../walk/streams.ts";
import { hasOption, optionValues, readOptions } from "./options.ts";
import { shellCode, shellInput } from "./stdin-code.ts";

/** Shell options that do not change the meaning of the text. Any other option makes the text uncertain. */
const HARMLESS_OPTIONS = new Set(
  "errexit nounset pipefail xtrace verbose noclobber noglob errtrace functrace notify monitor hashall".split(" "),
);

export function isHarmlessOption(name: string): boolean {
  return HARMLESS_OPTIONS.has(name);
}

/** Reports whether the flags are harmless, such as `-eu`, `+x` or `-euo` (followed by an option name). */
export function isHarmlessFlags(word: string): boolean {
  return /^-[efuxvnCETbhmlrp]*o?$|^\+[efuxvCETbhm]*o?$/.test(word);
}

export const SHELLS = [
  "sh",
  "bash",
  "dash",
  "ash",
  "rbash",
  "ksh",
  "ksh93",
  "mksh",
  "zsh",
  "fish",
  "csh",
  "tcsh",
  "yash",
  "posh",
  "pwsh",
  "powershell",
  "nu",
  "elvish",
  "xonsh",
  "osh",
  "rc",
  "lksh",
  "oksh",
  "hush",
  "msh",
  "sallyport-sh",
];

/** Shells whose language is analyzed. */
const BASH_LIKE = new Set(["sh", "bash", "dash", "ash", "rbash", "sallyport-sh"]);

/** Syntax that shells other than bash parse differently, such as `$'…'` and `&>`. */
const BASHISM =
  /\$'|\$"|\[\[|(?<!\$)\(\(|[<>]\(|<<<|&>|\|&|\$\[|=\(|;&|\{\w+\}[<>]|\bfunction\s|\{[^{}\s]*(?:,|\.\.)[^{}\s]*\}|\$\{\w+[/^,@[:!]/;

/** Long options of bash that are also accepted with one dash. */
const ONE_DASH = /^-(?:posix|norc|noprofile|login|rcfile|init-file|restricted|verbose|version|help|debugger)$/;

export function shell(call: Call, run: Runner): void {
  const posix = call.argv.some((field) => /^--?posix$/.test(field.value ?? ""));
  if (posix) markCommandUnknown(call, call.fact.span, "bash parses some syntax differently in POSIX mode");
  const argv = call.argv.map((field) => {
    const text = field.value ?? "";
    if (ONE_DASH.test(text)) return { ...field, value: `-${text}`, prefix: `-${text}` };
    return /^\+\w/.test(text) ? { ...field, value: `-${text.slice(1)}`.replace(/c/g, "") } : field;
  });
  const options = readOptions(argv, {
    short: "abefhiklmnprtuvxBCDEHPTcso:O:",
    long: "rcfile= init-file= norc noprofile login posix restricted verbose version help debugger dump-strings command= interactive init-command=",
    stop: true,
  });
  if (hasOption(options, "version", "help")) return;
  for (const field of call.argv.slice(1, options.rest)) {
    const text = (field.value ?? field.prefix).replace(/^(-[a-z]*)[csi]+/, "$1");
    const flags = /^[-+][A-Za-z]/.test(text) && !ONE_DASH.test(text);
    if (flags && !isHarmlessFlags(text))
      markCommandUnknown(call, field.span, "a shell option changes how the text is parsed");
  }
  for (const value of optionValues(options, "o", "O")) {
    if (!isHarmlessOption(value.value ?? ""))
      markCommandUnknown(call, value.span, "a shell option changes how the text is parsed");
  }
  if (!BASH_LIKE.has(call.name)) markCommandUnknown(call, call.fact.span, `code for \`${call.name}\` is not analyzed`);
  if (hasOption(options, "i", "interactive"))
    markCommandUnknown(call, call.fact.span, "an interactive shell runs startup files, which are not analyzed");
  if (hasOption(options, "rcfile", "init-file", "init-command"))
    markCommandUnknown(call, call.fact.span, "the shell runs startup code that is not analyzed");
  if (options.list.some((option) => option.value?.value === "expand_aliases"))
    markCommandUnknown(call, call.fact.span, "aliases are enabled");
  const [first, ...args] = options.operands;
  const fed = call.stdin.kind === "text" ? call.stdin.text : null;
  const code = hasOption(options, "c") ? first?.value : fed;
  if (call.name !== "bash" && call.name !== "rbash" && code && BASHISM.test(code.replace(/\$\{\w+:[-=?+]/g, ""))) {
    markCommandUnknown(call, call.fact.span, `\`${call.name}\` may parse this text differently from bash`);
  }
  const long = options.list.find((option) => option.name === "command");
  if (long?.value) run.text(call, long.value);
  if (hasOption(options, "c") && !long) {
    // `bash -c -- 'text'` and `bash -c -e 'text'` both run the first operand.
    const inner = { positional: args.slice(1), zero: args[0] ?? null };
    if (first) run.text(call, first, inner);
    else markCommandUnknown(call, call.fact.span, "there is no code after `-c`");
    // The outer shell expands `$0` in `sh -c "rm $0" x`, although it was likely meant for the inner shell.
    const quoted = /^"([^"`]*\$[\d@*][^"`]*)"$/.exec(first?.source ?? "");
    if (first && quoted?.[1] && first.value === null) {
      const uncertain = { span: first.span, why: "the shell that expands the parameter is not certain" };
      run.text(call, { ...first, value: quoted[1].replace(/\\([$"\\])/g, "$1"), uncertain }, inner);
    }
    call.fact.wrapper = BASH_LIKE.has(call.name) && first?.value != null;
    return;
  }
  if (long) return;
  if (first && !hasOption(options, "s")) {
    script(call, run, first.shape === null ? null : normalize(first.shape, call.cwd), first, args);
    return;
  }
  shellInput(call, run, { positional: options.operands });
}

function script(call: Call, run: Runner, path: string | null, file: Call["argv"][number], args: Call["argv"]): void {
  const own = path === "/dev/stdin" || path === "/dev/fd/0" || path === "/proc/self/fd/0" || file.value === "-";
  if (own) {
    shellInput(call, run, { positional: args });
    return;
  }
  const made = path === null ? undefined : contentOf(call, path);
  if (made && path?.startsWith("/dev/fd/")) shellCode(call, run, made, { positional: args });
  else if (made) {
    if (made.kind === "text")
      run.text(call, { ...file, value: made.text, uncertain: made.uncertain }, { positional: args });
    const why = "this command runs a file that is written by the same command line";
    markCommandUnknown(call, file.span, why, isRemote(made) ? { piped: true } : {});
  } else if (file.value === null || path === null || path.startsWith("/dev/fd/") || path.startsWith("/proc/")) {
    markCommandUnknown(call, file.span, "the script to run is known only at run time");
  }
}
