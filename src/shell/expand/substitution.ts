/** Command substitutions whose output is known, or at least cannot be a dangerous path or piece of code. */
import type { Walk } from "../walk/walk.ts";

const INERT =
  /^(?:date(?: \+[\w%:. -]*| "\+[\w%:. -]*"| '\+[\w%:. -]*')?|nproc|whoami|id -[ug]n?|uname(?: -[a-z])?|hostname(?: -s)?|arch)$/;
const NUMBER =
  /^(?:date \+%s(?:%N)?|nproc|id -[ug]|wc -[lcmw](?: *<? *[\w./-]+)?|stat -[cf] ?%[sYza] [\w./-]+|expr [\d +*/-]+)$/;

function body(text: string): string | null {
  const match = /^(?:\$\(|`)\s*([^`()]*?)\s*(?:\)|`)$/.exec(text);
  return match?.[1] ?? null;
}

export function evidentOutput(walk: Walk, text: string): { text: string | null; shape: string | null } {
  const command = text.length < 80 ? body(text) : null;
  if (command === null) return { text: null, shape: null };
  if (shadowed(walk, command)) return { text: null, shape: null };
  if (command === "pwd" && walk.state.cwd !== null && walk.state.fallbacks.length === 0)
    return { text: walk.state.cwd, shape: walk.state.cwd };
  if (/^mktemp(?: -d| -q| -u)*$/.test(command))
    return { text: null, shape: `${walk.context.env?.TMPDIR ?? "/tmp"}/tmp.fresh` };
  if (INERT.test(command)) return { text: null, shape: "x" };
  return { text: null, shape: null };
}

/** Output that is a number, so that arithmetic on it runs no code. */
export function isNumeric(walk: Walk, text: string): boolean {
  const command = text.length < 80 ? body(text) : null;
  return command !== null && NUMBER.test(command) && !shadowed(walk, command);
}

function shadowed(walk: Walk, command: string): boolean {
  return walk.state.pathChanged || walk.state.functions.has(command.split(" ", 1)[0] ?? "");
}
