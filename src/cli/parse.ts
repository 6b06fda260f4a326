import { type ParseArgsOptionsConfig, parseArgs } from "node:util";
import { nearest } from "../text/nearest.ts";
import { type Command, type Invocation, UsageError } from "./command.ts";

/** Options that every command accepts, before or after its name. */
export const GLOBAL_OPTIONS: ParseArgsOptionsConfig = {
  state: { type: "string" },
  agent: { type: "string" },
  fleet: { type: "string" },
  json: { type: "boolean" },
  help: { type: "boolean", short: "h" },
  version: { type: "boolean", short: "V" },
};

export const GLOBAL_HELP: Record<string, string> = {
  state: "DIR: State folder (default: $SALLYPORT_STATE, or ~/.local/state/sallyport)",
  agent: 'NAME: Agent that sends the request and owns its sessions (default: "default")',
  fleet: "URL: Use a fleet, for example nats://host:4222 (default: $SALLYPORT_FLEET)",
  json: "Print JSON",
  help: "Show help",
  version: "Show the version",
};

type Parsed = Omit<Invocation, "io">;

/** Splits `[global options] [command [arguments]]`. */
export function splitCommand(argv: string[]): { values: Parsed["values"]; name: string | null; given: string[] } {
  const { values, tail } = parse(argv, GLOBAL_OPTIONS, "first argument");
  const [name, ...given] = tail ?? [];
  return { values, name: name ?? null, given };
}

export function parseCommand(command: Command, argv: string[]): Parsed {
  if (command.passesArguments) {
    return { values: argv[0] === "--help" ? { help: true } : {}, positionals: [], rest: argv };
  }
  const options = { ...GLOBAL_OPTIONS, ...command.options };
  const end = command.takesCommandLine ? "first argument" : "--";
  const { values, positionals, tail } = parse(argv, options, end);
  return { values, positionals, rest: tail };
}

/** Parses the options up to `--`, or up to the first positional argument with `end`, and returns the rest unparsed. */
function parse(argv: string[], options: ParseArgsOptionsConfig, end: "--" | "first argument") {
  const tokens = parseArgs({ args: argv, options, strict: false, allowPositionals: true, tokens: true }).tokens;
  const stop = tokens.find(
    ({ kind }) => kind === "option-terminator" || (kind === "positional" && end === "first argument"),
  );
  for (const token of tokens) {
    if (token === stop) break;
    if (token.kind === "option") check(token, options);
  }
  const head = stop ? argv.slice(0, stop.index) : argv;
  const tail = stop ? argv.slice(stop.kind === "positional" ? stop.index : stop.index + 1) : null;
  const { values, positionals } = parseArgs({ args: head, options, strict: false, allowPositionals: true });
  return { values, positionals, tail };
}

/**
 * Throws for an unknown option, and for a missing or unexpected value. The strict mode of parseArgs is not used,
 * because it suggests no corrections and rejects `--offset -5`.
 */
function check(token: { name: string; rawName: string; value?: string | undefined }, options: ParseArgsOptionsConfig) {
  const option = Object.hasOwn(options, token.name) ? options[token.name] : undefined;
  if (!option) {
    const near = token.rawName.startsWith("--") ? nearLong(token.name, options) : otherCase(token.name, options);
    throw new UsageError(`unknown option \`${token.rawName}\`${near ? `; did you mean \`${near}\`?` : ""}`);
  }
  if (option.type === "string" && token.value === undefined) {
    throw new UsageError(`option \`${token.rawName}\` requires a value`);
  }
  if (option.type === "boolean" && token.value !== undefined) {
    throw new UsageError(`option \`${token.rawName}\` takes no value; received \`${token.value}\``);
  }
}

function nearLong(name: string, options: ParseArgsOptionsConfig): string | null {
  const near = nearest(name, Object.keys(options));
  return near && `--${near}`;
}

/** Returns the option with the letter in the other case, such as `-V` for `-v`, or null when there is none. */
function otherCase(letter: string, options: ParseArgsOptionsConfig): string | null {
  const shorts = Object.values(options).flatMap(({ short }) => short ?? []);
  const other = shorts.find((short) => short.toLowerCase() === letter.toLowerCase());
  return other ? `-${other}` : null;
}
