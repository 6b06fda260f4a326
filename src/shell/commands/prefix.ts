/**
 * Commands that run their remaining arguments as a command, after options and possibly operands. To add one, add a line
 * to the table.
 */

import type { Field } from "../expand/field.ts";
import { literal, tail } from "../expand/field.ts";
import { normalize } from "../path.ts";
import type { Assigned } from "../walk/call.ts";
import { type Call, markCommandUnknown, type Runner } from "../walk/call.ts";
import { environmentCode } from "../walk/environment.ts";
import { type OptionSpec, optionValue, readOptions } from "./options.ts";

interface Prefix extends OptionSpec {
  /** Options may also follow the operands (`setarch x86_64 -R cmd`, `perf stat -e x cmd`). */
  optionsAfter?: boolean;
  /** Number of operands before the command (`timeout 5 cmd`, `chroot /x cmd`). */
  skip?: number;
  /** Options with which the wrapper runs no command (`taskset -p 1`, `command -v x`). */
  inert?: readonly string[];
  /** `NAME=value` before the command sets its environment. */
  assigns?: boolean;
  /** Options that set the working directory of the command. */
  chdir?: readonly string[];
  /** The command runs in the current shell. */
  inShell?: boolean;
  /**
   * The wrapper does more than start the inner command: it changes privileges or traces the command, for example. So
   * allowing the inner command does not allow the wrapper.
   */
  own?: boolean;
}

const SUDO: Prefix = {
  short: "ABbC:D:Eeg:HhiKklNnPp:R:r:SsT:t:U:u:Vv",
  long: "askpass background close-from= chdir= preserve-env edit group= set-home host= login list non-interactive prompt= chroot= role= shell stdin type= command-timeout= other-user= user= validate version",
  assigns: true,
  chdir: ["D", "chdir"],
  own: true,
};

export const PREFIXES: Record<string, Prefix> = {
  command: { short: "pvV", inert: ["v", "V"], inShell: true },
  builtin: { inShell: true },
  exec: { short: "cla:", inShell: true },
  nohup: {},
  chronic: { short: "ve" },
  ifne: { short: "n" },
  zrun: {},
  lckdo: { short: "wqESes", skip: 1 },
  perf: { short: "e:o:p:t:r:F:c:g:ad", long: "event= output= pid= repeat= call-graph=", skip: 1, optionsAfter: true },
  nice: { short: "n:0123456789", long: "adjustment=" },
  ionice: { short: "c:n:p:P:u:t", long: "class= classdata= pid= ignore", inert: ["p", "P", "u", "pid"] },
  timeout: { short: "fk:s:pv", long: "foreground kill-after= signal= preserve-status verbose", skip: 1 },
  gtimeout: { short: "fk:s:pv", long: "foreground kill-after= signal= preserve-status verbose", skip: 1 },
  stdbuf: { short: "i:o:e:", long: "input= output= error=" },
  setsid: { short: "cfw", long: "ctty fork wait" },
  time: { short: "apvf:o:", long: "append format= output= portability verbose" },
  chrt: {
    short: "abdfimoprRT:P:D:v",
    long: "deadline fifo idle other batch rr sched-runtime= sched-period= sched-deadline=",
    skip: 1,
    inert: ["p", "m"],
  },
  taskset: { short: "acp", long: "all-tasks cpu-list pid", skip: 1, inert: ["p", "pid"] },
  numactl: {
    short: "i:N:C:m:p:l",
    long: "interleave= cpunodebind= physcpubind= membind= preferred= localalloc",
    inert: ["hardware", "show", "H", "s"],
  },
  setarch: {
    short: "BFILRSTXZ3v",
    long: "uname-2.6 verbose addr-no-randomize addr-compat-layout mmap-page-zero read-implies-exec sticky-timeouts whole-seconds short-inode 32bit fdpic-funcptrs 4gb 3gb show",
    skip: 1,
    optionsAfter: true,
  },
  linux32: { short: "BFILRSTXZ3v" },
  linux64: { short: "BFILRSTXZ3v" },
  i386: { short: "BFILRSTXZ3v" },
  x86_64: { short: "BFILRSTXZ3v" },
  uname26: {},
  unshare: {
    short: "imnpuUCTfrcS:G:R:w:",
    long: "fork map-root-user map-current-user mount-proc root= wd= setuid= setgid= propagation= setgroups= map-user= map-group=",
    chdir: ["w", "wd"],
    own: true,
  },
  nsenter: {
    short: "t:m::u::i::n::p::C::U::T::S:G:r::w::W:FZae",
    long: "target= setuid= setgid= all wdns=",
    own: true,
  },
  chroot: { long: "groups= userspec= skip-chdir", skip: 1, own: true },
  sudo: SUDO,
  doas: { short: "C:Lnsu:a:", own: true, assigns: true },
  pkexec: { long: "user= disable-internal-agent keep-cwd", own: true },
  gosu: { skip: 1, own: true },
  "su-exec": { skip: 1, own: true },
  setpriv: {
    long: "reuid= regid= ruid= euid= rgid= egid= groups= inh-caps= ambient-caps= bounding-set= securebits= pdeathsig= selinux-label= apparmor-profile= clear-groups init-groups keep-groups no-new-privs reset-env nnp",
    own: true,
  },
  strace: {
    short: "a:b:CcDdE:e:Ffhi:I:kno:O:p:P:qrS:s:tTu:U:vVwX:xyYzZ",
    long: "attach= trace= output= string-limit= user= seccomp-bpf follow-forks",
    own: true,
  },
  ltrace: { short: "a:A:bcCD:e:F:fhiln:o:p:rs:StTu:Vw:x:X:", own: true },
  valgrind: { own: true },
  prlimit: {
    short: "p:o:c::d::e::f::i::l::m::n::q::r::s::t::u::v::x::y::",
    long: "pid= output=",
    inert: ["p", "pid"],
  },
  cpulimit: { short: "l:e:p:P:zvbfi", long: "limit= exe= pid= path=" },
  fakeroot: { short: "l:f:i:s:ub:", long: "lib= faked=" },
  eatmydata: {},
  unbuffer: { short: "p" },
  rlwrap: { short: "a::A::b:B:c:C:D:f:F:g:H:iIl:m::M:no:O:p::P:q:rRs:S:t:T:UvwWz:" },
  faketime: { short: "mf", skip: 1 },
  torsocks: {},
  torify: {},
  proxychains: { short: "qf:" },
  proxychains4: { short: "qf:" },
  catchsegv: {},
  "dbus-run-session": { long: "config-file= dbus-daemon=" },
  "dbus-launch": { long: "exit-with-session" },
  "xvfb-run": { short: "ae:f:hln:p:s:w:", long: "auto-servernum server-num= server-args= error-file=" },
  "systemd-inhibit": { long: "what= who= why= mode= list" },
  "systemd-run": {
    short: "u:p:E:tPqGdSM:H:r",
    long: "unit= property= uid= gid= nice= setenv= working-directory= same-dir pty pipe quiet scope user shell slice= on-active= on-boot= on-calendar= on-startup= on-unit-active= timer-property= service-type= description= machine= host= wait collect no-block remain-after-exit",
    chdir: ["working-directory"],
    own: true,
  },
  "start-stop-daemon": { own: true },
  "ssh-agent": { short: "a:cDdE:kO:P:st:" },
  firejail: { own: true },
  cgexec: { short: "g:", long: "sticky" },
  caffeinate: { short: "disut:w:" },
  bundle: { skip: 1 },
  poetry: { skip: 1 },
  pipenv: { skip: 1 },
  hatch: { skip: 1 },
  rye: { skip: 1 },
  pdm: { skip: 1 },
  "cross-env": { assigns: true },
  "cross-env-shell": { assigns: true },
  dotenv: { short: "e:f:c:", own: true },
  direnv: { skip: 2 },
  noglob: { inShell: true },
  nocorrect: { inShell: true },
  repeat: { skip: 1, inShell: true },
  "-": { inShell: true },
  emulate: { skip: 1, inShell: true },
  zmodload: { inert: [], inShell: true },
  autoload: { inShell: true },
  sched: { skip: 1, inShell: true },
};

/** Commands that run another command only with this subcommand. */
const SUBCOMMAND: Record<string, string> = {
  bundle: "exec",
  poetry: "run",
  pipenv: "run",
  hatch: "run",
  rye: "run",
  pdm: "run",
  direnv: "exec",
};

/** Names that run another command in zsh but not in bash. */
const ZSH = new Set(["noglob", "nocorrect", "repeat", "-", "emulate", "zmodload", "autoload", "sched"]);

export function prefix(call: Call, run: Runner): void {
  const spec = PREFIXES[call.name];
  if (!spec) return;
  const sub = SUBCOMMAND[call.name];
  if (sub && call.argv[1]?.value !== sub) return;
  if (ZSH.has(call.name)) markCommandUnknown(call, call.fact.span, "bash and zsh read this command differently");
  const options = readOptions(call.argv, { ...spec, stop: true });
  call.fact.wrapper = !spec.own;
  if (options.list.some((option) => spec.inert?.includes(option.name))) return;
  for (const option of options.list) {
    // An option that is not in the table may take the next argument, so the command may start one argument later.
    if (!option.known && !/^\d+$/.test(option.name)) {
      if (!call.fact.executable.name || !spec.own)
        markCommandUnknown(
          call,
          option.field.span,
          "an unknown option makes it unclear where the inner command starts",
        );
    }
  }
  // `setarch -R cmd` omits the architecture.
  const skip =
    spec.optionsAfter && call.name === "setarch" && call.argv[1]?.value?.startsWith("-") ? 0 : (spec.skip ?? 0);
  let rest = options.operands.slice(skip);
  if (spec.optionsAfter) rest = readOptions(rest, { ...spec, stop: true }, 0).operands;
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
  if (call.name === "chroot") {
    run.argv(call, rest, { ...extra, cwd: "/" });
    return;
  }
  run.argv(call, rest, { ...extra, inShell: spec.inShell === true });
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
  environmentCode(call.walk, assignments, call.origin);
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
