/** The command that a host runs as its hook. */
import { quoteArgv, quoteWord, splitWords } from "../shell/quote.ts";
import type { ServerCommand } from "./hosts/host.ts";

/** Hosts take most failures of a hook for consent, for example that its program is missing. This denies instead. */
const FAILS_CLOSED = " || { [ $? -eq 2 ] || echo 'Sallyport could not check this command.' >&2; exit 2; }";

/** Returns the shell text of a hook, with the same program and settings as a server. */
export function hookCommand(host: string, { command, args, env }: ServerCommand): string {
  const [script = "", , ...options] = args;
  const variables = Object.entries(env).map(([name, value]) => `${name}=${quoteWord(value)} `);
  return `${variables.join("")}${quoteArgv([command, script, "hook", host, ...options])}${FAILS_CLOSED}`;
}

export interface FoundHook {
  /** The program with its arguments. */
  argv: string[];
  /** Whether a failure of the program denies the command. */
  failsClosed: boolean;
}

/** Reads the shell text of a hook. Null when it is not that of `sallyport hook HOST`. */
export function readHook(host: string, text: string): FoundHook | null {
  const failsClosed = text.endsWith(FAILS_CLOSED);
  const words = splitWords(failsClosed ? text.slice(0, -FAILS_CLOSED.length) : text) ?? [];
  const argv = words.slice(words.findIndex((word) => !/^\w+=/.test(word)));
  return argv[2] === "hook" && argv[3] === host ? { argv, failsClosed } : null;
}
