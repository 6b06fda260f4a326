import { packageVersion } from "../core/version.ts";
import { findEntry, suggestCommand } from "./catalog.ts";
import { type Command, type Invocation, type Io, UsageError } from "./command.ts";
import { saveCompiled, useCacheOf } from "./compile-cache.ts";
import { commandHelp, greeting, overview } from "./help.ts";
import { processIo } from "./io.ts";
import { parseCommand, splitCommand } from "./parse.ts";
import { reportError } from "./report-error.ts";

/** Used by the bundle to evaluate its largest script with cached code. */
export { evaluate } from "./compile-cache.ts";

/** The exit code of every failure of the command that runs, if it has one. */
let failureCode: number | undefined;

/** Runs a command line and ends the process with its exit code. */
export async function main(argv: string[]): Promise<void> {
  if (argv[0] === "--resident" && argv[1] !== undefined) return startResident(argv[1]);
  if (argv[0] === "--agent-gateway") return (await import("./agent/gateway-process.ts")).runGatewayProcess();
  const io = processIo();
  let code = await dispatch(argv, io).catch((error: unknown) => reportError(error, io, { json: wantsJson(argv) }));
  await io.flushed().catch((error: unknown) => {
    code = reportError(error, io, { json: false });
    code = failureCode ?? code;
  });
  // Exits explicitly, because an idle stdin or a half-closed socket would keep the process running.
  process.exit(code);
}

async function startResident(build: string): Promise<void> {
  const { startResident: start } = await import("./resident/start.ts");
  return start(build);
}

async function dispatch(argv: string[], io: Io): Promise<number> {
  const { values: globals, name, given } = splitCommand(argv);
  if (globals.version) return print(`${packageVersion()}\n`, io);
  if (name === null) return print(globals.help ? overview(readable(io)) : greeting(), io);
  if (name === "help" && given[0] === undefined) return print(overview(readable(io)), io);
  if (name === "help") return print(commandHelp(await load(given[0] ?? ""), readable(io)), io);

  const command = await load(name);
  if (globals.help) return print(commandHelp(command, readable(io)), io);
  return runCommand(command, given, globals, io);
}

async function runCommand(command: Command, given: string[], globals: Invocation["values"], io: Io): Promise<number> {
  failureCode = command.failureCode;
  let json = globals.json === true || (!command.passesArguments && wantsJson(given));
  try {
    const invocation = parseCommand(command, given);
    const values = { ...globals, ...invocation.values };
    json = values.json === true;
    if (values.help) return print(commandHelp(command, readable(io)), io);
    if (values.version) return print(`${packageVersion()}\n`, io);
    // The code that opens the gateway reads the environment.
    if (typeof values.fleet === "string") process.env.SALLYPORT_FLEET = values.fleet;
    const code = await command.run({ ...invocation, values, io });
    // A successful run has compiled the functions that the next one needs.
    if (code === 0 && command.name === "run") saveCompiled();
    return code;
  } catch (error) {
    const code = reportError(error, io, { json, command: command.name });
    return command.failureCode ?? code;
  }
}

async function load(name: string): Promise<Command> {
  const entry = findEntry(name);
  useCacheOf(name);
  if (entry) return entry.load();
  const near = suggestCommand(name);
  throw new UsageError(`unknown command \`${name}\`${near ? `; did you mean \`${near}\`?` : ""}`);
}

/** Returns the width of the terminal, limited to a readable line length. */
function readable(io: Io): number {
  return Math.max(60, Math.min(100, io.columns));
}

function print(text: string, io: Io): number {
  io.out(text);
  return 0;
}

/** Reports whether a command line that could not be parsed contains `--json`. */
function wantsJson(argv: string[]): boolean {
  const end = argv.indexOf("--");
  return (end < 0 ? argv : argv.slice(0, end)).includes("--json");
}
