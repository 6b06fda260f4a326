import { basename } from "node:path";
import type { TerminalProcess } from "../../executor/execution.ts";
import { SHELLS } from "../../shell/commands/shells.ts";
import { readsTerminal } from "../../shell/needs-terminal.ts";

const SHELL_NAMES = new Set(SHELLS);
/** Programs that pass input on to a shell on another terminal. */
const MULTIPLEXERS = new Set(["tmux", "screen", "zellij", "script", "dtach", "abduco", "byobu", "dvtm"]);

/** Shell escapes of programs that are not shells. The first group is the command that the shell runs. */
const ESCAPES: readonly { programs: string[]; line: RegExp }[] = [
  // `:!cmd`, `:%!cmd`, `:r !cmd`, `:w !cmd`, also after leaving insert mode.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: Escape leaves insert mode
  { programs: ["vi", "vim", "nvim", "view", "ex", "rvim", "vimdiff"], line: /(?:^|\x1b):[^!]*!(.*)$/s },
  { programs: ["less", "more", "most", "pg", "man"], line: /^\s*(?:[!#]|\|\S)(.*)$/s },
  { programs: ["gdb", "lldb"], line: /^\s*(?:(?:platform\s+)?(?:shell|!)|pipe[^|]*\||\|[^|]*\|)\s*(.*)$/s },
  { programs: ["psql"], line: /\\(?:!|o\s*\||g\s*\|)\s*(.*)$/s },
  { programs: ["mysql", "mariadb"], line: /^\s*(?:\\!|system)\s+(.*)$/s },
  { programs: ["sqlite3"], line: /^\s*\.(?:shell|system|once\s*\||output\s*\|)\s*(.*)$/s },
  { programs: ["ed", "red"], line: /^[^!]*!(.*)$/s },
  {
    programs: [
      "ftp",
      "sftp",
      "lftp",
      "telnet",
      "mail",
      "mailx",
      "mutt",
      "gnuplot",
      "ipython",
      "ipython3",
      "dc",
      "octave",
    ],
    line: /^\s*!{1,2}(.*)$/s,
  },
];

function namesOf({ program, argv }: TerminalProcess): string[] {
  const called = basename(argv[0] ?? "").replace(/^-/, "");
  // Reduces names such as `vim.basic`, `python3.13` and `tmux: client` to the usual name.
  const names = [
    called,
    called.replace(/[.:\s].*$/, ""),
    ...(program ? [basename(program), basename(program).replace(/\..*$/, "")] : []),
  ];
  return [...new Set(names)];
}

/** Reports whether a process reads commands from its terminal: an interactive shell, or a multiplexer. */
export function readsCommands(process: TerminalProcess): boolean {
  const names = namesOf(process);
  if (names.some((name) => MULTIPLEXERS.has(name))) return true;
  return names.some((name) => SHELL_NAMES.has(name)) && readsTerminal(process.argv);
}

/** Returns the commands in these lines that the program would pass to a shell; null when there are none. */
export function shellEscape(process: TerminalProcess, text: string): string | null {
  const names = namesOf(process);
  const { line: pattern } = ESCAPES.find(({ programs }) => programs.some((name) => names.includes(name))) ?? {};
  return pattern ? matchEscapes(text, [pattern]) : null;
}

/** Returns the same as `shellEscape`, for an unknown program that an earlier line may have started. */
export function anyShellEscape(text: string): string | null {
  return matchEscapes(text, MARKED);
}

/** The escapes that have no other meaning to a shell. */
const MARKED = ESCAPES.filter(({ programs }) => !programs.includes("less") && !programs.includes("ed")).map(
  ({ line }) => line,
);

function matchEscapes(text: string, patterns: readonly RegExp[]): string | null {
  const commands = text.split("\n").flatMap((line) => {
    return patterns.flatMap((pattern) => pattern.exec(line)?.[1]?.trim() || []);
  });
  return commands.length > 0 ? commands.join("\n") : null;
}
