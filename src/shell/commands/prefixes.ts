/**
 * Commands that run their remaining arguments as a command, after options and possibly operands. To add one, add a line
 * to the table.
 */
import type { OptionSpec } from "./options.ts";

export interface Prefix extends OptionSpec {
  /** Options may also follow the operands (`setarch x86_64 -R cmd`, `perf stat -e x cmd`). */
  optionsAfter?: boolean;
  /** Number of operands before the command (`timeout 5 cmd`, `chroot /x cmd`). */
  skip?: number;
  /** The wrapper runs a command only with one of these subcommands. `skip` includes the subcommand. */
  sub?: readonly string[];
  /** The command follows `--`, if there is one. */
  dashes?: boolean;
  /** The wrapper also accepts the command as one shell text. */
  text?: boolean;
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
  "annotate-output": { short: "h" },
  logsave: { short: "asv", skip: 1 },
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
  "systemd-cat": { short: "t:p:", long: "identifier= priority= stderr-priority= level-prefix= namespace=" },
  tini: { short: "vsgwp:e:", own: true },
  "tini-static": { short: "vsgwp:e:", own: true },
  "docker-init": { short: "vsgwp:e:", own: true },
  catatonit: { short: "Pg", own: true },
  "dumb-init": { short: "cvr:", long: "single-child verbose rewrite=", own: true },
  firejail: { own: true },
  proot: {
    short: "r:b:q:w:vVhk:0iS:R:p:l",
    long: "rootfs= bind= mount= qemu= cwd= pwd= kernel-release= root-id",
    chdir: ["w", "cwd", "pwd"],
    own: true,
  },
  fakechroot: { short: "sbc:d:e:l:vhu:", long: "use-system-libs bindir= config-dir= elfloader= environment= lib=" },
  daemonize: { short: "ac:e:E:l:o:p:u:v", chdir: ["c"], own: true },
  daemon: { short: "n:u:D:F:rvf", long: "name= user= chdir= pidfile= respawn", own: true },
  chpst: { short: "vPu:U:b:e:/:C:n:l:L:m:d:o:p:f:c:t:012", own: true },
  setuidgid: { skip: 1, own: true },
  envuidgid: { skip: 1 },
  envdir: { skip: 1, own: true },
  softlimit: { short: "a:c:d:f:l:m:n:o:p:r:s:t:" },
  setlock: { short: "nNxX", skip: 1 },
  pgrphack: {},
  "s6-setuidgid": { skip: 1, own: true },
  "s6-applyuidgid": { short: "u:g:G:Uz", own: true },
  "s6-envdir": { short: "iInc:f", skip: 1, own: true },
  "s6-env": { short: "iu:", assigns: true },
  "s6-softlimit": { short: "HSha:c:d:f:l:m:o:p:r:s:t:" },
  "s6-setlock": { short: "nNt:rw", skip: 1 },
  "s6-fghack": {},
  rr: { skip: 1, sub: ["record"], optionsAfter: true, short: "o:", own: true },
  heaptrack: { short: "o:d", own: true },
  uftrace: { short: "d:", own: true },
  mprof: { skip: 1, sub: ["run"], optionsAfter: true, short: "o:", own: true },
  pyinstrument: { short: "o:r:m:", long: "outfile= renderer=", own: true },
  "py-spy": { skip: 1, sub: ["record"], dashes: true, own: true },
  watchexec: { short: "w:e:f:i:r", long: "watch= exts= filter= ignore= restart clear", text: true, own: true },
  pm2: { skip: 1, sub: ["start"], optionsAfter: true, long: "name= watch instances= cron=", text: true, own: true },
  wine: { own: true },
  wine64: { own: true },
  sem: { short: "j:", long: "id= jobs= fg bg wait", text: true },
  retry: { text: true, short: "t:d:m:", long: "times= delay= max=", own: true },
  "aws-vault": { skip: 2, sub: ["exec"], dashes: true, own: true },
  "aws-okta": { skip: 2, sub: ["exec"], dashes: true, own: true },
  chamber: { skip: 2, sub: ["exec"], dashes: true, own: true },
  envchain: { skip: 1, own: true },
  doppler: { skip: 1, sub: ["run"], dashes: true, own: true },
  infisical: { skip: 1, sub: ["run"], dashes: true, own: true },
  teller: { skip: 1, sub: ["run"], dashes: true, own: true },
  dotenvx: { skip: 1, sub: ["run"], dashes: true, own: true },
  op: { skip: 1, sub: ["run"], dashes: true, own: true },
  guix: { skip: 1, sub: ["shell", "environment"], dashes: true, own: true },
  toolbox: {
    skip: 1,
    sub: ["run"],
    optionsAfter: true,
    short: "c:d:r:",
    long: "container= distro= release=",
    own: true,
  },
  distrobox: { skip: 2, sub: ["enter"], dashes: true, own: true },
  "flatpak-spawn": {
    long: "host sandbox watch-bus clear-env latest-version no-network forward-fd= env= directory=",
    chdir: ["directory"],
    own: true,
  },
  pipx: {
    skip: 1,
    sub: ["run"],
    optionsAfter: true,
    long: "spec= python= pip-args= index-url= path no-cache",
    own: true,
  },
  uvx: { short: "p:n", long: "from= with= python= refresh no-cache", own: true },
  lerna: { text: true, skip: 1, sub: ["exec"], dashes: true, own: true },
  nx: { text: true, skip: 1, sub: ["exec"], dashes: true, own: true },
  turbo: { text: true, skip: 1, sub: ["exec"], dashes: true, own: true },
  composer: { skip: 1, sub: ["exec"], dashes: true, own: true },
  rustup: { skip: 2, sub: ["run"], own: true },
  nodenv: { skip: 1, sub: ["exec"] },
  jenv: { skip: 1, sub: ["exec"] },
  goenv: { skip: 1, sub: ["exec"] },
  nvm: { skip: 2, sub: ["exec"], own: true },
  n: { skip: 2, sub: ["exec"], own: true },
  volta: { skip: 1, sub: ["run"], optionsAfter: true, long: "node= npm= yarn= bundled-npm no-yarn", own: true },
  fnm: { skip: 1, sub: ["exec"], dashes: true, own: true },
  "gpg-agent": { long: "daemon options= homedir=", inert: ["server", "supervised"], own: true },
  cgexec: { short: "g:", long: "sticky" },
  caffeinate: { short: "disut:w:" },
  bundle: { skip: 1, sub: ["exec"] },
  poetry: { skip: 1, sub: ["run"] },
  pipenv: { skip: 1, sub: ["run"] },
  hatch: { skip: 1, sub: ["run"] },
  rye: { skip: 1, sub: ["run"] },
  pdm: { skip: 1, sub: ["run"] },
  "cross-env": { assigns: true },
  "cross-env-shell": { assigns: true },
  dotenv: { short: "e:f:c:", own: true },
  direnv: { skip: 2, sub: ["exec"] },
  noglob: { inShell: true },
  nocorrect: { inShell: true },
  repeat: { skip: 1, inShell: true },
  "-": { inShell: true },
  emulate: { skip: 1, inShell: true },
  zmodload: { inert: [], inShell: true },
  autoload: { inShell: true },
  sched: { skip: 1, inShell: true },
};
