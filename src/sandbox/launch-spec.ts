import { accessSync, constants, readFileSync, realpathSync, statSync } from "node:fs";
import { basename, delimiter, join } from "node:path";
import { callerEnv } from "../core/caller.ts";
import { SallyportError } from "../core/error.ts";
import type { LaunchSpec } from "../core/launch.ts";
import { nextStep } from "../core/next-step.ts";
import type { RunRequest } from "../core/request.ts";
import type { Settings } from "../core/settings.ts";
import type { TerminalSize } from "../core/terminal.ts";
import type { Confined } from "./confine.ts";
import type { Environment } from "./environment.ts";

const DEFAULT_SIZE: TerminalSize = { columns: 120, rows: 30 };

/** The type of terminal that the screen is rendered as, regardless of the gateway's own terminal. */
const TERM = "xterm-256color";

/** The fields of a launch that depend on whether the command runs on a terminal. */
type TerminalSettings = Pick<LaunchSpec, "pty" | "stdin" | "capture" | "env">;

/** Returns the terminal settings of a request. The gateway resolves `pty: "auto"` earlier; here it means false. */
function terminalSettings(request: RunRequest, env: Environment): TerminalSettings {
  const { stdin = "none", capture = "apart" } = request;
  if (request.pty !== true) return { pty: null, stdin, capture, env: pipeEnvironment(env) };
  if (typeof stdin === "object") throw stdinOnTerminal();
  return {
    pty: request.size ?? DEFAULT_SIZE,
    // These apply if no terminal is available. Otherwise the terminal is both stdin and output.
    stdin: "open",
    capture: "merged",
    env: terminalEnvironment(env, request.env ?? {}),
  };
}

const NO_EDITOR =
  "sh -c 'echo \"There is no editor, because the command has no terminal. Pass the text in the command, such as git commit -m TEXT, or set EDITOR.\" >&2; exit 1'";

/**
 * Variables that make programs without a terminal fail with a message, or continue, instead of waiting for a person:
 * editors, pagers, and git's prompts for credentials. A value that the caller or the operator set takes precedence.
 */
export const PIPE_VARIABLES: Readonly<Environment> = {
  EDITOR: NO_EDITOR,
  VISUAL: NO_EDITOR,
  PAGER: "cat",
  GIT_TERMINAL_PROMPT: "0",
};

/** A cache, because the executor encodes each environment only once. */
const pipeEnvironments = new WeakMap<Environment, Environment>();

function pipeEnvironment(env: Environment): Environment {
  let found = pipeEnvironments.get(env);
  if (!found) {
    // An editor that the caller chose with one variable must not be overridden by the other.
    const { VISUAL, ...others } = PIPE_VARIABLES;
    found = { ...others, ...(env.EDITOR === undefined ? { VISUAL } : {}), ...withRealShell(env) } as Environment;
    pipeEnvironments.set(env, found);
  }
  return found;
}

/** Sets TERM and removes the size of the gateway's terminal, unless the caller set these variables. */
function terminalEnvironment(env: Environment, given: Readonly<Environment>): Environment {
  const { LINES: _lines, COLUMNS: _columns, ...rest } = withRealShell(env);
  return { ...rest, TERM, ...pick(given, ["TERM", "LINES", "COLUMNS"]) };
}

function pick(env: Readonly<Environment>, names: string[]): Environment {
  return Object.fromEntries(Object.entries(env).filter(([name]) => names.includes(name)));
}

function stdinOnTerminal(): SallyportError {
  return new SallyportError("InvalidRequest", "`stdin` cannot be text when `pty` is true.", [
    {
      action: "type_it",
      hint: "Send the text as input when the command reads it.",
    },
    {
      action: "leave_out",
      hint: "Or run the command without a terminal, so that it reads the text and end of file from a pipe.",
    },
  ]);
}

const DEFAULT_DISK_CAP = 64 << 20;
const DEFAULT_GRACE_MS = 5000;
const DEFAULT_TIMEOUT_MS = 60_000;

/** The name of the program with which Sallyport acts as a shell. It may be installed as `bash`. */
const OWN_SHELL = /^sallyport-sh(?:\.c?js)?$/;
/** A script that runs that program; see hosts/own-shell.ts. */
const OWN_SCRIPT = /^#!\/bin\/sh\nexec .*sallyport.* sh "\$@"\n$/;
const MAX_SCRIPT_BYTES = 4096;

/** Reports whether a program is Sallyport's own shell, which would run itself without end. */
function isOwnShell(path: string): boolean {
  const real = realpathSync.native(path);
  if (OWN_SHELL.test(basename(real))) return true;
  return statSync(real).size <= MAX_SCRIPT_BYTES && OWN_SCRIPT.test(readFileSync(real, "latin1"));
}

/** Returns the full path of bash. The PATH of a request is not searched, since an agent can set it (invariant 2). */
function findShell(path: string | undefined): string {
  const others = (path ?? "").split(delimiter).filter((folder) => folder.startsWith("/"));
  for (const folder of ["/bin", "/usr/bin", "/usr/local/bin", ...others]) {
    const candidate = join(folder, "bash");
    try {
      accessSync(candidate, constants.X_OK);
      if (!isOwnShell(candidate)) return candidate;
    } catch {
      // Try the next folder.
    }
  }
  throw new SallyportError("CommandNotFound", "`bash` was not found. It is required to run shell text.", [
    nextStep("install_bash", { name: "install-bash" }),
  ]);
}

/** The paths of bash by PATH, found on first use: a machine without bash can still run programs directly. */
const shells = new Map<string | undefined, string>();
/** The maximum number of cached paths. Each caller of a resident gateway has its own PATH. */
const MAX_SHELLS = 100;

function shellFor(path: string | undefined): string {
  let shell = shells.get(path);
  if (shell === undefined) {
    if (shells.size >= MAX_SHELLS) shells.clear();
    shell = findShell(path);
    shells.set(path, shell);
  }
  return shell;
}

/** Returns the path of bash. Throws CommandNotFound. */
export function realShell(): string {
  return shellFor(callerEnv().PATH);
}

/**
 * Returns variables in which SHELL is not Sallyport's own shell. A host may find it there, and within a command it does
 * not exist, because it is in the state folder.
 */
function withRealShell(env: Readonly<Environment>): Environment {
  const { SHELL, PATH } = env;
  try {
    return SHELL?.startsWith("/") && isOwnShell(SHELL) ? { ...env, SHELL: shellFor(PATH) } : env;
  } catch {
    return env; // it does not exist, or there is no bash
  }
}

function program(request: RunRequest, as: ShellText | null): Pick<LaunchSpec, "file" | "argv"> {
  if (request.args) return { file: request.command, argv: [request.command, ...request.args] };
  const { options, text } = as ?? { options: [], text: request.command };
  // `--` prevents bash from parsing a text that starts with a dash as options.
  return { file: realShell(), argv: ["bash", ...options, "-c", "--", text] };
}

/**
 * How bash runs the text of a request for a program that acts as a shell. Policy, approvals and records concern the
 * request's command alone; the rest is text of the agent host or of Sallyport.
 */
export interface ShellForm {
  /** Options of bash before the text, such as `-l`. */
  options: readonly string[];
  /** Files that run before the command. An approval is bound to them. */
  sourced: readonly string[];
  /**
   * Returns the text for bash, which contains the command. It reports the final working directory in `directoryFile`;
   * null when that is not possible.
   */
  text(directoryFile: string | null): string;
}

/** The text that bash runs in place of the request's command, which it contains. */
interface ShellText {
  options: readonly string[];
  text: string;
}

function timeoutOf(request: RunRequest, { timeouts }: Pick<Settings, "timeouts">, background: boolean): number {
  if (background) return request.timeoutMs ?? 0;
  const byDefault = timeouts.defaultSeconds === null ? DEFAULT_TIMEOUT_MS : timeouts.defaultSeconds * 1000;
  const most = timeouts.maxSeconds === null ? Number.POSITIVE_INFINITY : timeouts.maxSeconds * 1000;
  const asked = request.timeoutMs ?? Math.min(byDefault, most);
  if (asked <= most && (asked > 0 || most === Number.POSITIVE_INFINITY)) return asked;
  throw new SallyportError("InvalidRequest", `\`timeoutMs\` must be from 1 to ${most}; received ${asked}.`, [
    nextStep("increase_limits", { name: "raise-limit", key: "timeouts.maxSeconds", requestable: false }),
    nextStep("use_background", { name: "use-background" }),
  ]);
}

/** Resolves a request and its confinement to a launch spec. */
export function launchSpec(
  request: RunRequest,
  { env, cwd, root, logFile, limits, sandbox }: Confined,
  settings: Pick<Settings, "timeouts" | "durability">,
  id: string,
  background: boolean,
  as: ShellText | null = null,
): LaunchSpec {
  return {
    id,
    // Not the command: `pgrep -f` and `pkill -f` with a part of it must not find the keeper.
    title: id,
    ...program(request, as),
    path: env.PATH ?? "/usr/local/bin:/usr/bin:/bin",
    ...terminalSettings(request, env),
    cwd,
    root,
    timeoutMs: timeoutOf(request, settings, background),
    graceMs: request.graceMs ?? DEFAULT_GRACE_MS,
    diskCap: request.diskCap ?? DEFAULT_DISK_CAP,
    logFile,
    limits,
    sandbox: sandbox.spec,
    background,
    durable: settings.durability === "power-loss",
  };
}
