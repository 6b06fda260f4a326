/**
 * Models commands that run their remaining arguments as a command, after options and possibly operands. The table is in
 * prefixes.ts.
 */

import type { Field } from "../expand/field.ts";
import { literal, tail } from "../expand/field.ts";
import { normalize } from "../path.ts";
import type { Assigned } from "../walk/call.ts";
import { type Call, markCommandUnknown, type Runner } from "../walk/call.ts";
import { environmentCode } from "../walk/environment.ts";
import { type Options, optionValue, readOptions } from "./options.ts";
import { recordOutputs } from "./outputs.ts";
import { PREFIXES, type Prefix } from "./prefixes.ts";
import { shellInput } from "./stdin-code.ts";
import { guessInnerCommand } from "./unmodeled.ts";

/** Names that run another command in zsh but not in bash. */
const ZSH = new Set(["noglob", "nocorrect", "repeat", "-", "emulate", "zmodload", "autoload", "sched"]);

export function prefix(call: Call, run: Runner): void {
  const spec = PREFIXES[call.name];
  if (!spec) return;
  if (ZSH.has(call.name)) markCommandUnknown(call, call.fact.span, "bash and zsh read this command differently");
  const options = readOptions(call.argv, { ...spec, stop: true });
  recordOutputs(call, options, run);
  if (spec.sub && !spec.sub.includes(options.operands[0]?.value ?? "")) return;
  call.fact.wrapper = !spec.own;
  if (options.list.some((option) => spec.inert?.includes(option.name))) return;
  // An option that is not in the table may take the next argument, so the command may start one argument later.
  const unclear = options.list.find((option) => !option.known && !/^\d+$/.test(option.name));
  if (unclear && !spec.own)
    markCommandUnknown(call, unclear.field.span, "an unknown option makes it unclear where the inner command starts");
  if (unclear) guessInnerCommand(call, run);
  let rest = commandIn(call, spec, options, run);
  const assignments: Assigned[] = [];
  while (spec.assigns && rest[0] && /^[A-Za-z_]\w*=/.test(rest[0].prefix)) {
    const field = rest[0];
    const equals = field.prefix.indexOf("=");
    assignments.push({ name: field.prefix.slice(0, equals), value: tail(field, equals + 1) });
    rest = rest.slice(1);
  }
  const folder = spec.chdir ? optionValue(options, ...spec.chdir) : null;
  const cwd = folder ? (folder.shape === null ? null : normalize(folder.shape, call.cwd)) : undefined;
  const extra = { assignments: [...call.assignments, ...assignments], ...(cwd === undefined ? {} : { cwd }) };
  if (spec.skip && options.operands.slice(0, spec.skip).some((field) => field.many)) {
    markCommandUnknown(call, call.fact.span, "the start of the inner command is known only at run time");
  }
  const [only] = rest;
  if (spec.text && only && rest.length === 1 && /\s/.test(only.value ?? "")) {
    run.text(call, only, extra);
    return;
  }
  if (call.name === "chroot") {
    if (rest.length === 0 && call.stdin.kind !== "none") shellInput(call, run);
    run.argv(call, rest, { ...extra, cwd: "/" });
    return;
  }
  const shell =
    STARTS_SHELL.has(call.name) && (rest.length === 0 || options.list.some(({ name }) => /^[is]$/.test(name)));
  if (shell && call.stdin.kind !== "none") shellInput(call, run);
  run.argv(call, rest, { ...extra, inShell: spec.inShell === true });
}

/** Commands that start a shell if they are given no command. */
const STARTS_SHELL = new Set("sudo doas pkexec unshare nsenter fakeroot firejail systemd-run setarch".split(" "));

/** Returns the arguments from the inner command on. */
function commandIn(call: Call, spec: Prefix, options: Options, run: Runner): Field[] {
  const dashes = spec.dashes ? call.argv.findIndex((field) => field.value === "--") : -1;
  if (dashes > 0) return call.argv.slice(dashes + 1);
  // `setarch -R cmd` omits the architecture.
  const omits = call.name === "setarch" && call.argv[1]?.value?.startsWith("-");
  const rest = options.operands.slice(omits ? 0 : (spec.skip ?? 0));
  if (!spec.optionsAfter && !spec.dashes) return rest;
  const after = readOptions(rest, { ...spec, stop: true }, 0);
  recordOutputs(call, after, run);
  return after.operands;
}

/** The number of values that an option of bwrap takes. */
const BWRAP_VALUES: Record<number, readonly string[]> = {
  1: "args argv0 userns userns2 pidns uid gid hostname chdir unsetenv lock-file sync-fd exec-label file-label proc dev tmpfs mqueue dir seccomp add-seccomp-fd block-fd userns-block-fd info-fd json-status-fd cap-add cap-drop perms size remount-ro overlay-src tmp-overlay ro-overlay".split(
    " ",
  ),
  2: "setenv bind bind-try dev-bind dev-bind-try ro-bind ro-bind-try bind-fd ro-bind-fd file bind-data ro-bind-data symlink chmod".split(
    " ",
  ),
  3: ["overlay"],
};

/** Models `bwrap`, some of whose options take several values. */
export function bwrap(call: Call, run: Runner): void {
  let at = 1;
  let cwd: string | null | undefined;
  for (; at < call.argv.length; at++) {
    const text = call.argv[at]?.value ?? "";
    if (!text.startsWith("--") || text === "--") break;
    const name = text.slice(2);
    const takes = [1, 2, 3].find((count) => BWRAP_VALUES[count]?.includes(name)) ?? 0;
    const value = call.argv[at + 1];
    if (name === "chdir" && value) cwd = value.shape === null ? null : normalize(value.shape, call.cwd);
    if (name === "args") markCommandUnknown(call, call.fact.span, "`bwrap` reads its arguments from a file");
    at += takes;
  }
  if (call.argv[at]?.value === "--") at++;
  run.argv(call, call.argv.slice(at), cwd === undefined ? {} : { cwd });
}

const ENV_OPTIONS = {
  short: "iu:C:S:0vP:a:",
  long: "ignore-environment unset= chdir= split-string= null debug block-signal default-signal ignore-signal argv0=",
  stop: true,
};

export function env(call: Call, run: Runner): void {
  call.fact.wrapper = true;
  const options = readOptions(call.argv, ENV_OPTIONS);
  const splits = options.list.filter((option) => option.name === "S" || option.name === "split-string");
  if (splits.length > 4) {
    markCommandUnknown(call, call.fact.span, "`env` has more than 4 `-S` options");
    splits.length = 4;
  }
  let words = options.operands;
  for (const { value } of splits.reverse()) {
    if (!value) continue;
    const split = splitString(call, value);
    if (split) words = [...split, ...words];
  }
  if (splits.length > 0) {
    // The split words may start with further options of env.
    const again = readOptions([call.argv[0] as Field, ...words], ENV_OPTIONS);
    words = again.operands;
  }
  if (words[0]?.value === "-") words = words.slice(1);
  const assignments: Assigned[] = [];
  let at = 0;
  for (; at < words.length; at++) {
    const field = words[at] as Field;
    const equals = field.prefix.indexOf("=");
    if (equals < 0) break;
    assignments.push({ name: field.prefix.slice(0, equals), value: tail(field, equals + 1) });
  }
  environmentCode(call.walk, assignments, call.origin, true);
  if (assignments.some(({ name }) => name === "PATH"))
    markCommandUnknown(call, call.fact.span, "`PATH` was changed, so the program to run is not known");
  const folder = optionValue(options, "C", "chdir");
  const cwd = folder ? (folder.shape === null ? null : normalize(folder.shape, call.cwd)) : undefined;
  const rest = words.slice(at);
  run.argv(call, rest, { assignments: [...call.assignments, ...assignments], ...(cwd === undefined ? {} : { cwd }) });
}

/** Splits the value of `env -S`. Implementations differ, so only plain words and simple quotes count as known. */
function splitString(call: Call, value: Field): Field[] | null {
  if (value.value === null || /[\\$#]/.test(value.value)) {
    markCommandUnknown(call, value.span, "the words that `env -S` splits this string into cannot be determined");
    if (value.value === null) return null;
  }
  const words = value.value.match(/(?:[^\s'"]|'[^']*'|"[^"]*")+/g) ?? [];
  return words.map((word) =>
    literal(
      word.replace(/'([^']*)'|"([^"]*)"/g, (_, a, b) => a ?? b),
      value.source,
      value.span,
    ),
  );
}
