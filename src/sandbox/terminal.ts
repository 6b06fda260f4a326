import { SallyportError } from "../core/error.ts";
import type { LaunchSpec } from "../core/launch.ts";
import type { RunRequest } from "../core/request.ts";
import type { TerminalSize } from "../core/terminal.ts";
import type { Environment } from "./environment.ts";

const DEFAULT_SIZE: TerminalSize = { columns: 120, rows: 30 };

/** What the screen is rebuilt as, whatever terminal the gateway itself was started from. */
const TERM = "xterm-256color";

/** What of a launch depends on whether it is on a terminal. */
type OnTerminal = Pick<LaunchSpec, "pty" | "stdin" | "capture" | "env">;

/** `auto` is settled by whoever knows what the command runs; here it means no. */
export function terminalParts(request: RunRequest, env: Environment): OnTerminal {
  const { stdin = "none", capture = "apart" } = request;
  if (request.pty !== true) return { pty: null, stdin, capture, env };
  if (typeof stdin === "object") throw typedOnly();
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

function typedOnly(): SallyportError {
  return new SallyportError("InvalidRequest", "`stdin` cannot be given as a text on a terminal; received both.", [
    { action: "type_it", hint: "Start it with `pty` and `write` the text, or send keys, when it asks for input." },
    { action: "leave_out", hint: "Or leave `pty` out: on pipes a program reads the text and then its end." },
  ]);
}
