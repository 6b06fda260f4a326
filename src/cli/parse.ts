import { type ParseArgsOptionsConfig, parseArgs } from "node:util";
import { nearest } from "../text/nearest.ts";
import { type Command, type Invocation, UsageError } from "./command.ts";

/** Understood by every command, before or after its name. */
export const GLOBAL_OPTIONS: ParseArgsOptionsConfig = {
  state: { type: "string" },
  agent: { type: "string" },
  fleet: { type: "string" },
  json: { type: "boolean" },
  help: { type: "boolean", short: "h" },
  version: { type: "boolean", short: "V" },
};

export const GLOBAL_HELP: Record<string, string> = {
  state: "DIR: state folder [$SALLYPORT_STATE, else ~/.local/state/sallyport]",
  agent: "NAME: who is asking; sessions belong to an agent",
  fleet: "URL: run on the machines of a fleet, such as nats://host:4222 [$SALLYPORT_FLEET]",
  json: "print JSON",
  help: "show this help",
  version: "print the version",
};

type Parsed = Omit<Invocation, "io">;

/** `[global options] [command [what the command is given]]`. */
export function splitCommand(argv: string[]): { values: Parsed["values"]; name: string | null; given: string[] } {
  const { values, tail } = parse(argv, GLOBAL_OPTIONS, "first argument");
  const [name, ...given] = tail ?? [];
  return { values, name: name ?? null, given };
}

export function parseCommand(command: Command, argv: string[]): Parsed {
  const options = { ...GLOBAL_OPTIONS, ...command.options };
  const end = command.takesCommandLine ? "first argument" : "--";
  const { values, positionals, tail } = parse(argv, options, end);
  return { values, positionals, rest: tail };
}

/** Options up to `--` (or up to the first argument, if that comes first), and the untouched tail from there on. */
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

/** parseArgs's own strict mode is not used: its messages are long, suggest nothing, and it refuses `--offset -5`. */
function check(token: { name: string; rawName: string; value?: string | undefined }, options: ParseArgsOptionsConfig) {
  const option = Object.hasOwn(options, token.name) ? options[token.name] : undefined;
  if (!option) {
    const near = token.rawName.startsWith("--") ? nearLong(token.name, options) : otherCase(token.name, options);
    throw new UsageError(`unknown option \`${token.rawName}\`${near ? `; did you mean \`${near}\`?` : ""}`);
  }
  if (option.type === "string" && token.value === undefined) {
    throw new UsageError(`option \`${token.rawName}\` needs a value`);
  }
  if (option.type === "boolean" && token.value !== undefined) {
    throw new UsageError(`option \`${token.rawName}\` takes no value; received \`${token.value}\``);
  }
}

function nearLong(name: string, options: ParseArgsOptionsConfig): string | null {
  const near = nearest(name, Object.keys(options));
  return near && `--${near}`;
}

/** `-v` where `-V` is meant. */
function otherCase(letter: string, options: ParseArgsOptionsConfig): string | null {
  const shorts = Object.values(options).flatMap(({ short }) => short ?? []);
  const other = shorts.find((short) => short.toLowerCase() === letter.toLowerCase());
  return other ? `-${other}` : null;
}
