/** Models git, which runs commands from its configuration and from several options. */

import { type Field, joinFields, literal, tail } from "../expand/field.ts";
import { normalize } from "../path.ts";
import { type Call, markCommandUnknown, type Runner, recordTarget } from "../walk/call.ts";
import { fieldValue } from "../walk/state.ts";
import { setVariable } from "../walk/walk.ts";
import { hasOption, type OptionSpec, type Options, optionValue, optionValues, readOptions } from "./options.ts";
import { recordOutputs } from "./outputs.ts";

/** Configuration keys whose value git runs in a shell. */
const CODE_KEYS =
  /^(?:core\.(?:pager|editor|sshcommand|gitproxy|fsmonitor|askpass|alternaterefscommand)|pager\..*|sequence\.editor|diff\.external|diff\..*\.(?:command|textconv)|difftool\..*\.cmd|mergetool\..*\.cmd|merge\..*\.driver|filter\..*\.(?:clean|smudge|process)|credential\..*|gpg\..*program|gpg\.program|interactive\.difffilter|sendemail\..*cmd|web\.browser|browser\..*|remote\..*\.(?:uploadpack|receivepack|vcs)|uploadpack\.packobjectshook|ssh\.variant|help\.browser)$/i;
const RUNS_FROM_ELSEWHERE =
  /^(?:core\.hookspath|core\.worktree|include\.path|includeif\..*|init\.templatedir|protocol\..*)$/i;

export function git(call: Call, run: Runner): void {
  const globals = readOptions(call.argv, {
    short: "c:C:pPh",
    long: "git-dir= work-tree= namespace= exec-path config-env= paginate no-pager bare super-prefix= attr-source=",
    stop: true,
  });
  for (const folder of optionValues(globals, "C")) enter(call, folder);
  const tree = workTree(call, globals);
  if (tree) enter(call, tree);
  for (const value of optionValues(globals, "c")) setting(call, run, value);
  for (const value of optionValues(globals, "exec-path", "config-env"))
    markCommandUnknown(call, value.span, "`git` runs programs from another folder");
  const sub = call.argv[globals.rest];
  const rest = globals.rest + 1;
  if (!sub) return;
  if (sub.value === null) markCommandUnknown(call, sub.span, "the git subcommand is known only at run time");
  SUBCOMMANDS[sub.value ?? ""]?.(call, run, rest);
  if (tree && OVERWRITES.has(sub.value ?? "")) recordTarget(call, "write", literal(".", "", tree.span), true);
  recordOutputs(call, readOptions(call.argv, OUTPUT_OPTIONS, rest), run, `git ${sub.value}`);
  for (const field of call.argv.slice(rest)) {
    const found = /^--(?:upload-p[a-z-]*|receive-p[a-z-]*|exec|ext-diff-cmd|tool-cmd)=/.exec(field.prefix);
    if (found && sub.value !== "rebase") run.text(call, tail(field, found[0].length));
    const host = /^(?:\w+:\/\/(?:[^@/]*@)?|git@)([\w.-]+)/.exec(field.value ?? "");
    if (host?.[1]) call.fact.network.push(host[1]);
    if (/^ext::/.test(field.value ?? "")) run.text(call, tail(field, 5));
    const output = /^--outp[a-z]*=/.exec(field.prefix);
    if (output) recordTarget(call, "write", tail(field, output[0].length), false);
  }
}

const OUTPUT_OPTIONS: OptionSpec = { short: "o:", long: "output= output-directory= export-marks=" };

/** Subcommands that overwrite files in the work tree. */
const OVERWRITES = new Set(
  "checkout switch restore reset stash read-tree checkout-index merge pull rebase apply am cherry-pick revert".split(
    " ",
  ),
);

function enter(call: Call, folder: Field): void {
  call.cwd = folder.shape === null ? null : normalize(folder.shape, call.cwd);
}

/** Returns the folder that `--work-tree`, `core.worktree` or `GIT_WORK_TREE` sets. */
function workTree(call: Call, globals: Options): Field | null {
  const option = optionValue(globals, "work-tree");
  const setting = optionValues(globals, "c").findLast((value) => /^core\.worktree=/i.test(value.prefix));
  const assigned = call.assignments.findLast(({ name }) => name === "GIT_WORK_TREE")?.value;
  const variable = call.walk.state.variables.get("GIT_WORK_TREE");
  const exported = variable?.kind === "text" ? literal(variable.text, "", call.fact.span) : null;
  return option ?? (setting ? tail(setting, setting.prefix.indexOf("=") + 1) : null) ?? assigned ?? exported;
}

/** Models `-c key=value`. Commands, and aliases that start with `!`, are shell text. */
function setting(call: Call, run: Runner, value: Field): void {
  const equals = value.prefix.indexOf("=");
  const key = equals < 0 ? value.prefix : value.prefix.slice(0, equals);
  if (equals < 0 && value.value === null)
    markCommandUnknown(call, value.span, "a git setting is known only at run time");
  config(call, run, key, equals < 0 ? null : tail(value, equals + 1), value);
}

function config(call: Call, run: Runner, key: string, value: Field | null, at: Field): void {
  if (RUNS_FROM_ELSEWHERE.test(key)) markCommandUnknown(call, at.span, `\`${key}\` makes git run other code`);
  if (!value) return;
  if (/^alias\./i.test(key)) {
    if (value.prefix.startsWith("!")) run.text(call, tail(value, 1));
    else if (value.value === null) markCommandUnknown(call, value.span, "a git alias is known only at run time");
  } else if (CODE_KEYS.test(key)) run.text(call, value.prefix.startsWith("!") ? tail(value, 1) : value);
}

type Sub = (call: Call, run: Runner, from: number) => void;

/** Runs the value of an option as shell text. An empty optional value runs nothing. */
function runsOption(spec: OptionSpec, ...names: string[]): Sub {
  return (call, run, from) => {
    for (const value of optionValues(readOptions(call.argv, spec, from), ...names))
      if (value.value !== "") run.text(call, value);
  };
}

const SUBCOMMANDS: Record<string, Sub> = {
  config: (call, run, from) => {
    const options = readOptions(
      call.argv,
      {
        short: "f:lez",
        long: "file= blob= type= default= global system local worktree get get-all unset add replace-all list edit value= comment=",
      },
      from,
    );
    const { operands } = options;
    const words = operands[0]?.value === "set" ? operands.slice(1) : operands;
    const [key, value] = words;
    if (value && call.argv.some((field) => field.value === "--system"))
      recordTarget(call, "write", literal("/etc/gitconfig", "", call.fact.span), false);
    const file = optionValue(options, "f", "file");
    if (value && file) recordTarget(call, "write", file, false);
    if (key?.value && value) config(call, run, key.value, value, value);
    if (/^core\.worktree$/i.test(key?.value ?? "") && value)
      setVariable(call.walk, "GIT_WORK_TREE", fieldValue(value, true));
  },
  bundle: (call, _run, from) => {
    const [verb, file] = readOptions(call.argv, { long: "quiet progress all version=" }, from).operands;
    if (verb?.value === "create" && file && file.value !== "-") recordTarget(call, "write", file, false);
  },
  clean: (call, _run, from) => {
    const options = readOptions(
      call.argv,
      { short: "dfiqe:nxX", long: "force interactive dry-run quiet exclude=" },
      from,
    );
    if (hasOption(options, "n", "dry-run") || !hasOption(options, "f", "force", "i")) return;
    const paths = options.operands.length > 0 ? options.operands : [literal(".", "", call.fact.span)];
    for (const path of paths) recordTarget(call, "delete", path, true);
  },
  rm: (call, _run, from) => {
    const options = readOptions(
      call.argv,
      { short: "fnrq", long: "force dry-run cached ignore-unmatch quiet pathspec-from-file=" },
      from,
    );
    if (hasOption(options, "cached", "n", "dry-run")) return;
    for (const path of options.operands) recordTarget(call, "delete", path, hasOption(options, "r"));
  },
  clone: (call, run, from) => {
    const options = readOptions(
      call.argv,
      {
        short: "b:c:j:o:u:lnqsv",
        long: "branch= config= depth= jobs= origin= upload-pack= template= reference= filter= shallow-since= separate-git-dir= server-option= bundle-uri= recursive recurse-submodules single-branch no-tags bare mirror quiet progress sparse no-checkout",
      },
      from,
    );
    for (const value of optionValues(options, "c", "config")) setting(call, run, value);
    for (const value of optionValues(options, "u", "upload-pack")) run.text(call, value);
    for (const value of optionValues(options, "template"))
      markCommandUnknown(call, value.span, "`git` installs hooks from a template");
    const [, folder] = options.operands;
    if (folder) recordTarget(call, "write", folder, true);
  },
  rebase: runsOption({ short: "x:s:X:C:", long: "exec= onto= strategy= strategy-option=" }, "x", "exec"),
  bisect: (call, run, from) => {
    if (call.argv[from]?.value === "run") run.argv(call, call.argv.slice(from + 1), { label: "git bisect" });
  },
  submodule: (call, run, from) => {
    const at = call.argv.findIndex((field, index) => index >= from && field.value === "foreach");
    if (at < 0) return;
    const { operands } = readOptions(call.argv, { long: "recursive quiet", stop: true }, at + 1);
    if (operands[0]) run.text(call, joinFields(operands));
  },
  "filter-branch": (call, run, from) => {
    const options = readOptions(
      call.argv,
      {
        short: "fd:",
        long: "env-filter= tree-filter= index-filter= parent-filter= msg-filter= commit-filter= tag-name-filter= setup= subdirectory-filter= original= force prune-empty",
      },
      from,
    );
    for (const { name, value } of options.list)
      if (value && /-filter$|^setup$/.test(name) && name !== "subdirectory-filter") run.text(call, value);
  },
  difftool: runsOption({ short: "x:t:", long: "extcmd= tool=" }, "x", "extcmd"),
  grep: runsOption({ short: "O::e:f:A:B:C:m:", long: "open-files-in-pager" }, "O", "open-files-in-pager"),
  "send-email": runsOption(
    { long: "smtp-server= sendmail-cmd= to-cmd= cc-cmd= header-cmd=" },
    "smtp-server",
    "sendmail-cmd",
    "to-cmd",
    "cc-cmd",
    "header-cmd",
  ),
  worktree: (call, _run, from) => {
    if (call.argv[from]?.value !== "add") return;
    const [folder] = readOptions(
      call.argv,
      { short: "b:B:f", long: "detach checkout lock reason= orphan track" },
      from + 1,
    ).operands;
    if (folder) recordTarget(call, "write", folder, true);
  },
  init: (call, _run, from) => {
    const [folder] = readOptions(
      call.argv,
      { short: "b:q", long: "template= separate-git-dir= object-format= initial-branch= shared" },
      from,
    ).operands;
    if (folder) recordTarget(call, "write", folder, false);
  },
};
