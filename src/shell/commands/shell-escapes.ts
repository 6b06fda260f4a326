/** Finds the commands that programs other than shells pass to a shell, in the text that these programs read. */

import { quoteWord } from "../quote.ts";

/** Shell escapes of programs. The first group is the command that the shell runs. */
const ESCAPES: readonly { programs: readonly string[]; line: RegExp }[] = [
  // `:!cmd`, `:%!cmd`, `:r !cmd`, `:w !cmd`, also after leaving insert mode.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: Escape leaves insert mode
  { programs: ["vi", "vim", "nvim", "view", "rvim", "vimdiff"], line: /(?:^|\x1b)\s*:[^!]*!(.*)$/s },
  { programs: ["ex"], line: /^[^!]*!(.*)$/s },
  { programs: ["less", "more", "most", "pg", "man", "info"], line: /^\s*(?:[!#]|\|\S)(.*)$/s },
  {
    programs: ["gdb", "lldb"],
    line: /^\s*(?:(?:platform\s+)?(?:she\w*|!)|pipe[^|]*\||\|[^|]*\|)\s*(.*)$/s,
  },
  { programs: ["psql"], line: /(?:\\(?:!|[og]x?\s*\||w\s*\|)\s*|\bprogram\s+')([^']*.*)$/is },
  { programs: ["mysql", "mariadb"], line: /(?:^\s*(?:system|pager)\s+|\\[!P]\s*)(.*)$/s },
  {
    programs: ["sqlite3", "sqlite"],
    line: /^\s*\.(?:she\w*|sy\w*|(?:on\w*|ou\w*|rea?\w*|im\w*)[^|\n]*\|)\s*(.*)$/s,
  },
  { programs: ["ed", "red"], line: /^[^!]*!(.*)$/s },
  { programs: ["mail", "mailx", "mutt", "s-nail"], line: /^\s*(?:~?!|~\||~<\s*!)(.*)$/s },
  {
    programs: ["ftp", "sftp", "lftp", "ncftp", "telnet", "gnuplot", "ipython", "dc", "octave", "tig", "ranger", "vifm"],
    line: /^\s*:?(?:!{1,2}|shell\s)(.*)$/s,
  },
];

/** Lines that make a program run code in another language, or commands from a file. */
const OTHER_CODE: Record<string, RegExp> = {
  gdb: /^\s*(?:(?:py\w*|pi|gu\w*|gr|so\w*)\b|(?:call|print|p)\b.*\()/m,
  lldb: /^\s*(?:(?:scr\w*|command|com)\b|(?:expr\w*|e|p|call)\b.*\()/m,
  gnuplot: /\bsystem\b|`|^\s*load\b/m,
  octave: /\b(?:system|eval|source|run|popen)\b/,
  ipython: /\S/,
};

export function runsOtherCode(name: string, text: string): boolean {
  return OTHER_CODE[name]?.test(text) ?? false;
}

/** Names of the programs with escapes, as a line that starts one of them contains them. */
const STARTS = new RegExp(
  `(?<![\\w.-])(?:${ESCAPES.flatMap(({ programs }) => programs)
    .filter((name) => !["less", "more", "most", "pg", "man", "ed", "red", "ex", "view", "info", "dc"].includes(name))
    .join("|")})\\d*(?![\\w-])`,
);
const INTERPRETER_STARTS = /(?<![\w.-])(?:python|pypy|node|nodejs|ruby|irb|perl|php|lua|tclsh|julia|R)[\d.]*(?![\w-])/;

export function hasShellEscapes(names: readonly string[]): boolean {
  return ESCAPES.some(({ programs }) => programs.some((name) => names.includes(name)));
}

/** Returns the commands in these lines that a program with one of these names would pass to a shell. */
export function shellEscapes(names: readonly string[], text: string): string[] {
  return ESCAPES.filter(({ programs }) => programs.some((name) => names.includes(name))).flatMap(({ line }) =>
    matches(text, line),
  );
}

/** Returns the same for lines after the first one that starts such a program from a shell. */
export function startedEscapes(text: string): string[] {
  const lines = text.split("\n");
  const program = lines.findIndex((line) => STARTS.test(line));
  const interpreter = lines.findIndex((line) => INTERPRETER_STARTS.test(line));
  const found: string[] = [];
  if (program >= 0) {
    const rest = lines.slice(program + 1).join("\n");
    const marked = ESCAPES.filter(({ programs }) => !/^(?:less|ed|ex)$/.test(programs[0] ?? ""));
    for (const { line } of marked) found.push(...matches(rest, line));
  }
  if (interpreter >= 0) found.push(...codeCommands(lines.slice(interpreter + 1).join("\n")));
  return [...new Set(found)];
}

function matches(text: string, pattern: RegExp): string[] {
  return text.split("\n").flatMap((line) => {
    const command = pattern.exec(line)?.[1]?.trim();
    return command ? [command.replace(/^(['"])(.*?)\1;?$/, "$2")] : [];
  });
}

/** Matches calls that start a program, in Python, Ruby, Perl, PHP, Lua, JavaScript and R, with a literal command. */
const CALLS =
  /(?:system2?|popen\d?|exec\w*|spawn\w*|Popen|call|check_call|check_output|getoutput|shell_exec|passthru|run|sh|IO\.popen|shell-command(?:-to-string)?|do shell script|spawn)\s*\(?\s*(?:\[\s*)?(["'])((?:(?!\1)[^\\\n]|\\.)+)\1((?:\s*,\s*(?:\[\s*)?(["'])(?:(?!\4)[^\\\n]|\\.)*\4)*)/g;
/** Matches calls that delete or write a literal path. */
const FILE_CALLS =
  /(?:(rmtree|remove_tree|rm_rf?|rmSync|rmdirSync|rimraf|removeSync|delete-directory|rmdir_r)|writeFileSync|writeFile|file_put_contents|appendFileSync|write-region)\s*\(?\s*(["'])([^"'\n]+)\2|\bopen\s*\(\s*(["'])([^"'\n]+)\4\s*,\s*["'][wax>]/g;
const BACKTICKS = /(?:^|[\s=(;])(?:`([^`\n]+)`|%x[({[]([^)}\]\n]+)[)}\]])/g;
const LONGEST_CODE = 64 * 1024;
const MOST_CALLS = 32;

/**
 * Returns the commands that code in another language appears to run. This recognizes literal commands only; code is
 * unanalyzable whether or not it finds any.
 */
export function codeCommands(text: string): string[] {
  const code = text.slice(0, LONGEST_CODE);
  const found: string[] = [];
  for (const match of code.matchAll(CALLS)) {
    const rest = [...(match[3] ?? "").matchAll(/(["'])((?:(?!\1)[^\\]|\\.)*)\1/g)].map((one) => one[2] ?? "");
    found.push([match[2] ?? "", ...rest].join(" "));
    if (found.length >= MOST_CALLS) break;
  }
  for (const match of code.matchAll(BACKTICKS)) {
    if (found.length >= MOST_CALLS) break;
    found.push(match[1] ?? match[2] ?? "");
  }
  for (const [, deletes, , path, , opened] of code.matchAll(FILE_CALLS)) {
    if (found.length >= MOST_CALLS) break;
    found.push(`${deletes ? "rm -rf" : "tee"} ${quoteWord(path ?? opened ?? "")}`);
  }
  return found;
}
