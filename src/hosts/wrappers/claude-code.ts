import { dirname, join, normalize } from "node:path";
import { callerHome, callerTmpdir } from "../../core/caller.ts";
import { isWithin, nearestReal } from "../../sandbox/workspace.ts";
import { quoteWord } from "../../shell/quote.ts";
import { readLiteral } from "./literal.ts";
import { type HostWrapper, Reader, type WrapperContext } from "./wrapper.ts";

const ZSH_GLOBS = "NO_EXTENDED_GLOB NO_BARE_GLOB_QUAL NO_BRACE_CCL NO_MAGIC_EQUAL_SUBST NO_EQUALS";

/** A part before the snapshot: macOS has a version of bash that cannot run some commands. */
const VERSION_CHECK =
  `{ case "\${BASH_VERSINFO-}" in '2'|'3') \\builtin printf '%s\\n' ` +
  `'__CLAUDE_CODE_DID_NOT_RUN_BASH_TOO_OLD='"\${BASH_VERSION-}" >&2; \\builtin exit 126; \\exit 126;; esac; }`;

/**
 * The parts between the snapshot and the command. They turn off extended globs, for bash, zsh, and a shell that Claude
 * Code does not know, and remove functions and aliases that a snapshot may define. Earlier versions of 2.1 have no
 * `\builtin`.
 */
const PARTS = [
  "\\builtin shopt -u extglob 2>/dev/null || true",
  `\\builtin setopt ${ZSH_GLOBS} 2>/dev/null || true`,
  `{ \\builtin shopt -u extglob || \\builtin setopt ${ZSH_GLOBS}; } >/dev/null 2>&1 || true`,
  "shopt -u extglob 2>/dev/null || true",
  "setopt NO_EXTENDED_GLOB NO_BARE_GLOB_QUAL 2>/dev/null || true",
  "{ shopt -u extglob || setopt NO_EXTENDED_GLOB NO_BARE_GLOB_QUAL; } >/dev/null 2>&1 || true",
  ...["which", "unsetenv"].map(
    (name) => `{ \\builtin unalias -- '${name}'; \\builtin unset -f -- '${name}'; } >/dev/null 2>&1 || true`,
  ),
];

const SNAPSHOT = /^snapshot-(?:bash|zsh)-\d+-[a-z0-9]+\.sh$/;
const DIRECTORY_FILE = /^claude-[A-Za-z0-9]{1,64}-cwd$/;

/**
 * Takes apart the text of Claude Code's Bash tool: `source SNAPSHOT … && shopt … && eval COMMAND < /dev/null && pwd -P >|
 * FILE`. Returns null for any other text, which is then judged as a whole.
 */
export function claudeCodeWrapper(text: string, context: WrapperContext): HostWrapper | null {
  // The host sets this variable. In other hosts, text like this is the agent's own.
  if (context.env.CLAUDECODE !== "1") return null;
  const reader = new Reader(text);
  const before: string[] = [];
  const sourced: string[] = [];
  if (reader.skip(`${VERSION_CHECK} && `)) before.push(VERSION_CHECK);
  if (reader.skip("source ")) {
    const path = literal(reader);
    if (path === null || !reader.skip(" 2>/dev/null || true && ") || !isSnapshot(path, context)) return null;
    before.push(`source ${quoteWord(path)} 2>/dev/null || true`);
    sourced.push(path);
  }
  for (;;) {
    const part = PARTS.find((each) => reader.skip(`${each} && `));
    if (part === undefined) break;
    before.push(part);
  }
  if (!reader.skip("eval ")) return null;
  const command = literal(reader);
  if (command === null) return null;
  const input = reader.skip(" < /dev/null") ? " < /dev/null" : "";
  if (!reader.skip(" && pwd -P >| ")) return null;
  const directoryFile = literal(reader);
  if (directoryFile === null || !reader.done || !isDirectoryFile(directoryFile, context)) return null;
  return {
    host: "claude-code",
    command,
    sourced,
    directoryFile,
    processFile: null,
    text: (onSuccess) => [...before, `eval ${quoteWord(command)}${input}`, onSuccess].filter(Boolean).join(" && "),
  };
}

function literal(reader: Reader): string | null {
  const word = readLiteral(reader.text, reader.at);
  if (!word) return null;
  reader.at = word.end;
  return word.value;
}

/**
 * Reports whether a path is a snapshot of the user's shell that Claude Code has made. A snapshot in the workspace could
 * be the agent's own file.
 */
function isSnapshot(path: string, { env, workspace }: WrapperContext): boolean {
  const config = env.CLAUDE_CONFIG_DIR || join(env.HOME || callerHome(), ".claude");
  const folder = join(config, "shell-snapshots");
  if (dirname(path) !== normalize(folder) || !SNAPSHOT.test(path.slice(folder.length + 1))) return false;
  // The file may not exist yet, and the folder may be a link.
  const { real, missing } = nearestReal(path);
  return ![path, join(real, ...missing)].some((each) => isWithin(normalize(each), workspace));
}

/** Reports whether a path is one at which Claude Code reads the final working directory. */
function isDirectoryFile(path: string, { env, uid }: WrapperContext): boolean {
  const folders = [env.CLAUDE_CODE_TMPDIR, env.TMPDIR, callerTmpdir(), "/tmp"].flatMap((folder) =>
    folder?.startsWith("/") ? [normalize(folder), join(folder, `claude-${uid}`)] : [],
  );
  const folder = dirname(path);
  return (
    folders.some((each) => each.replace(/(?<=.)\/$/, "") === folder) &&
    DIRECTORY_FILE.test(path.slice(folder.length + 1))
  );
}
