import { existsSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import type { Recovery } from "../../core/error.ts";
import { nextStep } from "../../core/next-step.ts";
import { quotedName } from "../../text/command-line.ts";
import { nearNames } from "../../text/nearest.ts";
import { findProgram, isProgram, type LookupContext, namesIn, programNames } from "./programs.ts";

const MOST_NAMES = 3;
const FARTHEST_UP = 8;
/** Folders in which projects install their own programs. */
const PROJECT_FOLDERS = ["node_modules/.bin", ".venv/bin", "venv/bin"];

/** Alternative names of a program, or commands with the same function. The first one installed is suggested. */
const ALIASES: Readonly<Record<string, readonly string[]>> = {
  python: ["python3"],
  pip: ["pip3", "python3 -m pip"],
  pytest: ["python3 -m pytest"],
  node: ["nodejs"],
  "docker-compose": ["docker compose"],
  cc: ["gcc", "clang"],
  gcc: ["cc", "clang"],
  vim: ["vi"],
  fd: ["fdfind"],
  bat: ["batcat"],
  rg: ["grep -rn"],
  ll: ["ls -l"],
  ifconfig: ["ip addr"],
  netstat: ["ss"],
  wget: ["curl -LO"],
  curl: ["wget -O-"],
  open: ["xdg-open"],
};

/** Shell builtins and keywords, which do not exist as programs. */
const SHELL_ONLY: ReadonlySet<string> = new Set(
  "cd source . export unset alias unalias set shopt eval exec read declare local typeset readonly let history jobs fg bg wait disown ulimit umask trap pushd popd dirs type hash builtin command if for while until case function [[ ((".split(
    " ",
  ),
);

/**
 * Returns suggestions for a command that was not found, the most likely first. They are derived from file names; no
 * program is run.
 */
export function suggestions(program: string, place: LookupContext): Recovery[] {
  const found = program.includes("/") ? forPath(program, place) : forName(program, place);
  return found.filter((suggestion) => suggestion !== null);
}

function forName(program: string, place: LookupContext): (Recovery | null)[] {
  // If the program is on the gateway's PATH, the command ran with a different PATH.
  const elsewhere = onPath(program, place.path);
  if (elsewhere !== null) return [elsewhere];
  const offered = [inFolder(program, place), inProject(program, place), alias(program, place)];
  const nothingBetter = offered.every((each) => each === null);
  return [shellWords(program, place), ...offered, nothingBetter ? didYouMean(nearOnPath(program, place.path)) : null];
}

function forPath(program: string, { cwd, path }: LookupContext): (Recovery | null)[] {
  const file = resolve(cwd, program);
  const folder = dirname(file);
  if (!existsSync(folder)) {
    return [
      { action: "check_path", hint: `The folder ${quotedName(folder)} does not exist.` },
      onPath(basename(file), path),
    ];
  }
  const start = program.slice(0, program.length - basename(program).length);
  const near = nearNames(basename(file), namesIn(folder), MOST_NAMES).map((name) => `${start}${name}`);
  return [didYouMean(near), onPath(basename(file), path)];
}

function didYouMean(names: string[]): Recovery | null {
  if (names.length === 0) return null;
  const words = names.map(quotedName);
  const last = words.pop();
  return { action: "did_you_mean", hint: `Did you mean ${words.length > 0 ? `${words.join(", ")} or ` : ""}${last}?` };
}

/** Programs that policy denies or blocks. Suggesting one of them would lead to a refusal. */
const PRIVILEGED: ReadonlySet<string> = new Set(
  "su sudo doas chroot mount umount shutdown reboot halt poweroff init telinit mkfs dd".split(" "),
);

function nearOnPath(program: string, path: string): string[] {
  const names = nearNames(program, programNames(path), MOST_NAMES * 2);
  return names.filter((name) => !PRIVILEGED.has(name) && findProgram(name, path) !== null).slice(0, MOST_NAMES);
}

function onPath(name: string, path: string): Recovery | null {
  const file = findProgram(name, path);
  return file === null ? null : { action: "did_you_mean", hint: `Did you mean ${quotedName(file)}?` };
}

/** Suggests `./name` for a program in the working directory, which is not on PATH. */
function inFolder(program: string, { cwd }: LookupContext): Recovery | null {
  const name = [program, `${program}.sh`].find((each) => isProgram(join(cwd, each)) || hasScript(cwd, each));
  return name === undefined ? null : didYouMean([`./${name}`]);
}

function hasScript(cwd: string, name: string): boolean {
  return /\.(sh|bash|py|pl|rb|js)$/.test(name) && existsSync(join(cwd, name));
}

function inProject(program: string, { cwd }: LookupContext): Recovery | null {
  let folder = cwd;
  for (let level = 0; level < FARTHEST_UP; level++) {
    for (const place of PROJECT_FOLDERS) {
      const file = join(folder, place, program);
      if (isProgram(file)) return didYouMean([relative(cwd, file)]);
    }
    if (folder === dirname(folder)) break;
    folder = dirname(folder);
  }
  return null;
}

function alias(program: string, { path }: LookupContext): Recovery | null {
  const others = Object.hasOwn(ALIASES, program) ? (ALIASES[program] ?? []) : [];
  const other = others.find((each) => findProgram(each.split(" ")[0] ?? "", path) !== null);
  return other === undefined ? null : { action: "use_alternative", hint: `Use \`${other}\`, which is installed.` };
}

/** The action of a suggestion to run a text with the shell. The program is then neither missing nor has it a path. */
export const USE_SHELL = "use_shell";

/** Suggests the shell for a program name that is shell text or a part of the shell; null for other names. */
function shellWords(program: string, { path }: LookupContext): Recovery | null {
  const [first = ""] = program.trim().split(/\s+/, 1);
  const assigns = /^[A-Za-z_]\w*=/.test(program);
  const isText = assigns || (first !== program && (SHELL_ONLY.has(first) || findProgram(first, path) !== null));
  if (!isText && !SHELL_ONLY.has(program)) return null;
  return nextStep(USE_SHELL, { name: "use-shell", program: quotedName(program), text: isText });
}
