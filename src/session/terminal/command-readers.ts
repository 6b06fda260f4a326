import { basename } from "node:path";
import type { TerminalProcess } from "../../executor/execution.ts";
import { SHELLS } from "../../shell/commands/shells.ts";
import { readsTerminal } from "../../shell/needs-terminal.ts";

const SHELL_NAMES = new Set(SHELLS);
/** What is typed into these goes to a shell inside, on a terminal of its own. */
const MULTIPLEXERS = new Set(["tmux", "screen", "zellij", "script", "dtach", "abduco", "byobu", "dvtm"]);

/** How a line typed into a program that is no shell becomes a shell's: what the first group holds. */
const ESCAPES: readonly { programs: string[]; line: RegExp }[] = [
  // `:!cmd`, `:%!cmd`, `:r !cmd`, `:w !cmd`, also after leaving insert mode.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is the key that leaves insert mode
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
  // `vim.basic`, `python3.13`, `tmux: client`: as they are known.
  const names = [
    called,
    called.replace(/[.:\s].*$/, ""),
    ...(program ? [basename(program), basename(program).replace(/\..*$/, "")] : []),
  ];
  return [...new Set(names)];
}

/** Whether it takes commands from its terminal: a shell without a script and without `-c`, or what holds one. */
export function readsCommands(process: TerminalProcess): boolean {
  const names = namesOf(process);
  if (names.some((name) => MULTIPLEXERS.has(name))) return true;
  return names.some((name) => SHELL_NAMES.has(name)) && readsTerminal(process.argv);
}

/** What of these lines the program would have a shell run; null: nothing. */
export function shellEscape(process: TerminalProcess, text: string): string | null {
  const names = namesOf(process);
  const { line: pattern } = ESCAPES.find(({ programs }) => programs.some((name) => names.includes(name))) ?? {};
  return pattern ? matchEscapes(text, [pattern]) : null;
}

/** The same for a program that one of the lines before may start, whichever it is. */
export function anyShellEscape(text: string): string | null {
  return matchEscapes(text, MARKED);
}

/** Those whose escapes no shell takes for something else. */
const MARKED = ESCAPES.filter(({ programs }) => !programs.includes("less") && !programs.includes("ed")).map(
  ({ line }) => line,
);

function matchEscapes(text: string, patterns: readonly RegExp[]): string | null {
  const commands = text.split("\n").flatMap((line) => {
    return patterns.flatMap((pattern) => pattern.exec(line)?.[1]?.trim() || []);
  });
  return commands.length > 0 ? commands.join("\n") : null;
}
