import type { CommandFact } from "../core/facts.ts";
import type { RunRequest } from "../core/request.ts";
import { SHELLS } from "./commands/shells.ts";

/** Options of shells that take a value. */
const WITH_VALUE = /^(?:--(?:rcfile|init-file|init-command)|[-+][A-Za-z]*[oO]|-C)$/;

/** Reports whether a shell with these arguments reads commands from standard input, without a script or `-c`. */
export function readsTerminal(argv: readonly string[]): boolean {
  for (let i = 1; i < argv.length; i++) {
    const word = argv[i] ?? "";
    if (word === "--" || word === "-") return argv.length === i + 1;
    if (/^--(?:command|version|help)\b/.test(word) || /^-[A-Za-z]*c/.test(word)) return false;
    if (/^-[A-Za-z]*s/.test(word)) return true;
    if (WITH_VALUE.test(word)) i++;
    else if (!/^[-+]./.test(word)) return false;
  }
  return true;
}

const SHELL_NAMES: ReadonlySet<string> = new Set(SHELLS);

/** Reports whether `pty: "auto"` selects a terminal for this request. Requests with stdin text never get one. */
export function mayHaveTerminal({ stdin }: Pick<RunRequest, "stdin">, commands: readonly CommandFact[]): boolean {
  return typeof stdin !== "object" && needsTerminal(commands);
}

/** Reports whether one of these commands only works on a terminal. */
export function needsTerminal(commands: readonly CommandFact[]): boolean {
  return commands.some((fact, index) => wantsTerminal(fact, index === commands.length - 1));
}

function wantsTerminal(fact: CommandFact, isLast: boolean): boolean {
  const name = fact.executable.name;
  if (name === null || fact.remote || fact.background || !isSeen(fact)) return false;
  const argv = fact.argv.map(({ value, prefix }) => value ?? prefix);
  if (PAGERS.has(name)) return isLast; // `git log | less` reads from the pipe and takes keys from the terminal
  if (fact.piped || readsElsewhere(fact)) return false;
  if (SHELL_NAMES.has(name)) return readsTerminal(argv);
  const wants = WANTS_TERMINAL.get(name) ?? WANTS_TERMINAL.get(name.replace(/[\d.]+$/, ""));
  return wants?.(commandLine(argv)) ?? false;
}

/** Reports whether standard output is visible. It is not in `vim x > log`, which redirects it to a file. */
function isSeen({ redirects }: CommandFact): boolean {
  return !redirects.some(({ kind, fd }) => (kind === "write" || kind === "append") && (fd === null || fd === 1));
}

function readsElsewhere({ redirects }: CommandFact): boolean {
  return redirects.some(({ kind, fd }) => (kind === "read" || kind === "here") && (fd === null || fd === 0));
}

function commandLine(argv: readonly string[]): CommandLine {
  const rest = argv.slice(1);
  const end = rest.indexOf("--");
  const before = end < 0 ? rest : rest.slice(0, end);
  const options = before.filter((word) => /^-./.test(word));
  const words = [...before.filter((word) => !/^-./.test(word)), ...(end < 0 ? [] : rest.slice(end + 1))];
  return {
    words,
    operands: (withValue) => words.filter((word) => !isValue(before, word, withValue)),
    has: (...wanted) => wanted.some((option) => options.some((given) => isOption(given, option))),
  };
}

function isValue(before: readonly string[], word: string, withValue: string): boolean {
  const option = before[before.indexOf(word) - 1] ?? "";
  return /^-[A-Za-z0-9]$/.test(option) && withValue.includes(option.slice(1));
}

function isOption(given: string, wanted: string): boolean {
  if (given === wanted || given.startsWith(`${wanted}=`)) return true;
  // `-it` means `-i -t`; `-mtext` means `-m text`.
  return (
    /^-[^-]$/.test(wanted) && /^-[^-]/.test(given) && /^-[A-Za-z0-9]+$/.test(given) && given.includes(wanted.slice(1))
  );
}

/** The parsed arguments of a command. `words` are the arguments that are not options, in order. */
interface CommandLine {
  words: readonly string[];
  /** Returns `words` without the values of these options. */
  operands(withValue: string): readonly string[];
  /** Reports whether one of these options is given; `-x` also matches within a cluster such as `-ix`. */
  has(...options: string[]): boolean;
}

type Wants = (line: CommandLine) => boolean;

const always: Wants = () => true;
const without =
  (...options: string[]): Wants =>
  ({ has }) =>
    !has(...options);
/** Matches programs that show a prompt unless they are given something to run. */
const bare =
  (...options: string[]): Wants =>
  ({ words, has }) =>
    words.length === 0 && !has(...options);
const first =
  (...names: string[]): Wants =>
  ({ words }) =>
    names.includes(words[0] ?? "");

const tableOf = (rows: readonly (readonly [string, Wants])[]): ReadonlyMap<string, Wants> =>
  new Map(rows.flatMap(([names, wants]) => names.split(" ").map((name) => [name, wants] as const)));

/** Matches `git commit` if it opens an editor: the message is neither given nor taken from elsewhere. */
const commits = without(
  "-m",
  "-F",
  "-C",
  "--message",
  "--file",
  "--reuse-message",
  "--no-edit",
  "--dry-run",
  "--fixup",
);

const git: Wants = (line) => {
  const { has } = line;
  const [action] = line.operands("Cc"); // `git -C folder rebase -i`
  switch (action) {
    case "rebase":
      return has("-i", "--interactive") && !has("--abort", "--quit");
    case "add":
    case "checkout":
    case "reset":
    case "restore":
    case "stash":
      return has("-p", "--patch") || (action === "add" && has("-i", "-e", "--interactive", "--edit"));
    case "commit":
      return commits(line) || has("-p", "--patch", "--interactive");
    case "mergetool":
    case "difftool":
      return true;
    default:
      return false;
  }
};

const container: Wants = ({ operands, has }) => {
  const [action, second] = operands("nHc"); // `kubectl -n name exec -it`
  if (action === "compose" && (second === "run" || second === "exec")) return !has("-T", "--no-TTY", "-d", "--detach");
  return ["run", "exec", "attach", "start", "debug", "create"].includes(action ?? "")
    ? has("-t", "--tty") && !has("-d", "--detach")
    : action === "edit" || action === "login";
};

/** Programs that need a terminal, each with a condition. A version suffix (`python3.13`) is ignored. */
const WANTS_TERMINAL = tableOf([
  [
    "vi vim nvim view vimdiff nano pico micro hx helix kak joe jed mg ne mcedit emacs",
    without("--batch", "-es", "--version", "--help"),
  ],
  ["top", without("-b", "-h", "-v")],
  ["htop btop atop iotop iftop nethogs glances nvtop bmon watch", without("--version", "--help")],
  ["screen zellij byobu", without("-ls", "-list", "-dmS", "-d", "--version")],
  [
    "tmux",
    ({ words, has }) =>
      ["new", "new-session", "attach", "attach-session", "a", "at"].includes(words[0] ?? "new") && !has("-d"),
  ],
  [
    "mc ranger nnn lf yazi vifm ncdu tig lazygit lazydocker k9s mutt neomutt alpine fzf dialog whiptail nmtui cfdisk",
    without("--version", "--help"),
  ],
  ["lynx w3m links elinks", without("-dump", "-source", "--dump")],
  // Coding agents take over the screen, unless they are given a single prompt.
  ["claude", without("-p", "--print", "--version", "--help")],
  [
    "codex",
    ({ words, has }) =>
      !["exec", "e", "login", "mcp", "apply", "completion"].includes(words[0] ?? "") && !has("--version", "--help"),
  ],
  ["gemini qwen", without("-p", "--prompt", "--version", "--help")],
  ["cursor-agent", without("-p", "--print", "--version", "--help")],
  ["copilot amp droid", without("-p", "-x", "--prompt", "--execute", "--version", "--help")],
  ["aider", without("-m", "--message", "-f", "--message-file", "--version", "--help")],
  ["opencode crush", ({ words, has }) => words[0] !== "run" && words[0] !== "serve" && !has("--version", "--help")],
  ["goose", first("session", "s", "configure")],
  // Interpreters show a prompt if they have nothing to run, or with an option for interactive mode.
  [
    "python python2 python3 pypy pypy3",
    ({ words, has }) => has("-i") || (words.length === 0 && !has("-c", "-m", "-V", "--version", "-h", "--help")),
  ],
  [
    "ipython bpython ptpython irb pry ghci jshell iex erl utop scala clj sbcl guile racket octave",
    bare("-c", "-e", "--version", "--help"),
  ],
  [
    "node",
    ({ words, has }) =>
      has("-i", "--interactive") ||
      (words.length === 0 && !has("-e", "--eval", "-p", "--print", "-v", "--version", "-h", "--help")),
  ],
  [
    "deno bun",
    ({ words, has }) => words[0] === "repl" || (words.length === 0 && !has("--version", "--help", "-V", "-v", "-h")),
  ],
  ["lua luajit julia ocaml R", bare("-e", "-f", "-v", "--version", "--help", "--slave")],
  ["php", ({ has }) => has("-a", "--interactive")],
  ["gdb lldb", without("-batch", "--batch", "-b", "--version", "--help")],
  // Database clients.
  ["psql", without("-c", "--command", "-f", "--file", "-l", "--list", "--version", "--help")],
  ["mysql mariadb", without("-e", "--execute", "--version", "--help")],
  ["sqlite3", ({ words, has }) => words.length <= 1 && !has("-cmd", "-version", "-help", "-batch")],
  ["redis-cli", bare("--version", "--help", "--scan", "--pipe", "--eval")],
  ["mongosh mongo", without("--eval", "--version", "--help")],
  // Remote shells and containers.
  [
    "ssh",
    ({ operands, has }) =>
      (has("-t") || operands("BbcDEeFIiJLlmOopQRSWw").length <= 1) && !has("-T", "-N", "-V", "-f", "-O", "-G"),
  ],
  ["mosh telnet ftp", always],
  ["sftp", without("-b")],
  ["lftp", without("-c", "-e", "-f")],
  ["docker podman nerdctl kubectl oc lxc", container],
  // Programs that ask for a password or open an editor.
  [
    "passwd su sudo doas ssh-copy-id visudo vipw vigr sudoedit chsh chfn dpkg-reconfigure tasksel",
    without("--version", "--help", "-n", "-k", "-l", "-S"),
  ],
  ["crontab", ({ has }) => has("-e")],
  ["systemctl", first("edit")],
  ["git", git],
  [
    "npm pnpm yarn",
    ({ words, has }) => ["init", "login", "adduser", "create"].includes(words[0] ?? "") && !has("-y", "--yes"),
  ],
  ["gh", ({ words }) => words[0] === "auth" && words[1] === "login"],
  [
    "aws gcloud heroku az firebase vercel netlify",
    ({ words }) => ["configure", "init", "login"].includes(words[0] ?? "") || words[1] === "login",
  ],
  ["make", ({ words }) => words.some((word) => /^(?:menu|n)config$/.test(word))],
]);

/** Pagers: they read from a pipe and take keys from the terminal. */
const PAGERS: ReadonlySet<string> = new Set(["less", "more", "most", "man", "fzf", "bat", "delta", "pspg", "vipe"]);
