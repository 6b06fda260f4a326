import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { SallyportError } from "../core/error.ts";
import type { LaunchSpec } from "../core/launch.ts";
import type { RunRequest } from "../core/request.ts";
import type { Settings } from "../core/settings.ts";
import type { TerminalSize } from "../core/terminal.ts";
import type { Confined } from "./confine.ts";
import type { Environment } from "./environment.ts";

const DEFAULT_SIZE: TerminalSize = { columns: 120, rows: 30 };

/** What the screen is rebuilt as, whatever terminal the gateway itself was started from. */
const TERM = "xterm-256color";

/** What of a launch depends on whether it is on a terminal. */
type TerminalSettings = Pick<LaunchSpec, "pty" | "stdin" | "capture" | "env">;

/** `auto` is settled by whoever knows what the command runs; here it means no. */
function terminalSettings(request: RunRequest, env: Environment): TerminalSettings {
  const { stdin = "none", capture = "apart" } = request;
  if (request.pty !== true) return { pty: null, stdin, capture, env };
  if (typeof stdin === "object") throw stdinOnTerminal();
  return {
    pty: request.size ?? DEFAULT_SIZE,
    // Both sides are the terminal; this is what is left where none can be had.
    stdin: "open",
    capture: "merged",
    env: terminalEnvironment(env, request.env ?? {}),
  };
}

/** Its size is the terminal's to tell, not that of variables inherited from another one. */
function terminalEnvironment(env: Environment, given: Readonly<Environment>): Environment {
  const { LINES: _lines, COLUMNS: _columns, ...rest } = env;
  return { ...rest, TERM, ...pick(given, ["TERM", "LINES", "COLUMNS"]) };
}

function pick(env: Readonly<Environment>, names: string[]): Environment {
  return Object.fromEntries(Object.entries(env).filter(([name]) => names.includes(name)));
}

function stdinOnTerminal(): SallyportError {
  return new SallyportError("InvalidRequest", "`stdin` cannot be a text when `pty` is true.", [
    {
      action: "type_it",
      hint: "Omit `stdin`, and send the text with `write` or as keys when the command reads input.",
    },
    { action: "leave_out", hint: "Or omit `pty`, so that the command reads the text and end of file from a pipe." },
  ]);
}

const DEFAULT_DISK_CAP = 64 << 20;
const DEFAULT_GRACE_MS = 5000;
const DEFAULT_TIMEOUT_MS = 60_000;
const TITLE_LENGTH = 200;

/** The bash that runs shell text, by its full path: never one an agent's PATH leads to (promise 2). */
function findShell(path: string | undefined): string {
  const others = (path ?? "").split(delimiter).filter((folder) => folder.startsWith("/"));
  for (const folder of ["/bin", "/usr/bin", "/usr/local/bin", ...others]) {
    try {
      accessSync(join(folder, "bash"), constants.X_OK);
      return join(folder, "bash");
    } catch {
      // not here
    }
  }
  throw new SallyportError("CommandNotFound", "`bash` was not found. It is required to run shell text.", [
    { action: "install_bash", hint: "Install bash, or run a program without a shell by passing `args`." },
  ]);
}

/** Looked for when first needed: a machine without bash can still run programs directly. */
let shell: string | null = null;

function program(request: RunRequest): Pick<LaunchSpec, "file" | "argv"> {
  if (request.args) return { file: request.command, argv: [request.command, ...request.args] };
  shell ??= findShell(process.env.PATH);
  // `--`: a text that starts with a dash is text, not options.
  return { file: shell, argv: ["bash", "-c", "--", request.command] };
}

function timeoutOf(request: RunRequest, { timeouts }: Pick<Settings, "timeouts">, background: boolean): number {
  if (background) return request.timeoutMs ?? 0;
  const byDefault = timeouts.defaultSeconds === null ? DEFAULT_TIMEOUT_MS : timeouts.defaultSeconds * 1000;
  const most = timeouts.maxSeconds === null ? Number.POSITIVE_INFINITY : timeouts.maxSeconds * 1000;
  const asked = request.timeoutMs ?? Math.min(byDefault, most);
  if (asked <= most && (asked > 0 || most === Number.POSITIVE_INFINITY)) return asked;
  throw new SallyportError("InvalidRequest", `\`timeoutMs\` must be from 1 to ${most}; received ${asked}.`, [
    { action: "increase_limits", hint: "The operator can raise `timeouts.maxSeconds` in sallyport.json." },
    { action: "use_background", hint: "Or run the command in the background, where a timeout is not required." },
  ]);
}

/** From what was asked, and where and with what it may run, to exactly what will run. */
export function launchSpec(
  request: RunRequest,
  { env, cwd, root, logFile, limits, sandbox }: Confined,
  settings: Pick<Settings, "timeouts" | "durability">,
  id: string,
  background: boolean,
): LaunchSpec {
  const text = request.args ? [request.command, ...request.args].join(" ") : request.command;
  return {
    id,
    title: text.slice(0, TITLE_LENGTH),
    ...program(request),
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
