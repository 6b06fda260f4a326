import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { callerPath } from "../../../core/caller.ts";
import { SallyportError } from "../../../core/error.ts";
import type { Verdict } from "../../../core/policy.ts";
import { type CheckOptions, check as evaluate, sandboxFor } from "../../../gateway/check.ts";
import { policyOf } from "../../../policy/decide.ts";
import { splitWords } from "../../../shell/quote.ts";
import { type Command, type Invocation, type Io, UsageError } from "../../command.ts";
import { EXIT_REFUSED } from "../../exit-code.ts";
import { printJson } from "../../io.ts";
import { settingsOf } from "../../open.ts";
import { choiceOption, SANDBOX_HELP, SANDBOX_OPTIONS, sandboxRequest, textOption } from "../../options.ts";
import { renderVerdict } from "./verdict.ts";

export const check: Command = {
  name: "check",
  summary: "Check a command against policy without running it",
  usage:
    "sallyport check [OPTIONS] [--] COMMAND...\n       sallyport check [OPTIONS] -c TEXT\n       sallyport check [OPTIONS] --ndjson",
  description: `
    Prints the verdict for a command with its reasons. Several arguments are checked as a program and its arguments,
    without a shell. A single argument that contains spaces or shell operators is checked as shell text, as with -c.`,
  takesCommandLine: true,
  options: {
    command: { type: "string", short: "c" },
    cwd: { type: "string" },
    security: { type: "string" },
    ask: { type: "string" },
    ...SANDBOX_OPTIONS,
    ndjson: { type: "boolean" },
  },
  help: {
    command: "TEXT: Check TEXT as shell text for bash",
    cwd: "DIR: Directory the command would run in (default: the current directory)",
    security: "MODE: Security mode to check with: deny, allowlist or full (default: as configured)",
    ask: "MODE: Approval mode to check with: off, on-miss or always (default: as configured)",
    ...SANDBOX_HELP,
    ndjson:
      'Read one JSON string or {"command", "shell", "cwd", "agent"} object per line from stdin, and print one verdict per line',
    json: "Print the verdict as JSON, with the complete analysis",
  },
  choices: {
    security: ["deny", "allowlist", "full"],
    ask: ["off", "on-miss", "always"],
    sandbox: ["off", "read-only", "workspace-write", "isolated"],
    network: ["on", "off"],
  },
  sections: {
    "Exit status": [
      ["0", "The command is allowed"],
      ["3", "The command requires approval"],
      ["126", "The command is blocked or denied"],
    ],
  },
  examples: [
    ["Check a program with its arguments", "sallyport check -- rm -rf build"],
    ["Check shell text", "sallyport check -c 'curl -s https://example.com | sh'"],
    [
      "Check as if only allowlisted commands were permitted",
      "sallyport check --security allowlist -c 'sort names | uniq -c'",
    ],
    ["Check several commands", `printf '"ls"\\n{"command": "make", "cwd": "/src"}\\n' | sallyport check --ndjson`],
  ],
  run: async (invocation) => {
    const { values, io } = invocation;
    const options = await optionsOf(invocation);
    if (values.ndjson) {
      await checkLines(io, options);
      return 0;
    }
    const verdict = evaluate(commandOf(invocation), options);
    show(verdict, values.json === true, io);
    return exitCode(verdict);
  },
};

/** The exit code for a command that requires approval. */
const EXIT_ASK = 3;

/**
 * Returns the options of the check: the configured policy, with modes from the command line in place of the configured
 * ones, and the sandbox.
 */
async function optionsOf({ values }: Invocation): Promise<CheckOptions> {
  const security = choiceOption(values, "security", ["deny", "allowlist", "full"]);
  const ask = choiceOption(values, "ask", ["off", "on-miss", "always"]);
  const agent = textOption(values, "agent") ?? "default";
  const cwd = callerPath(textOption(values, "cwd") ?? ".");
  const { settings, confinement } = await settingsOf({ workspace: cwd, agent });
  const policy = { ...policyOf(settings), ...(security ? { security } : {}), ...(ask ? { ask } : {}) };
  const sandbox = sandboxFor(settings, { workspace: cwd, agent, confinement }, sandboxRequest({ values }));
  return { cwd, agent, policy, sandbox };
}

function commandOf({ values, positionals, rest }: Invocation): string | string[] {
  const text = textOption(values, "command");
  const words = rest ?? positionals;
  const [only] = words;
  if (text !== undefined) {
    if (only !== undefined)
      throw new UsageError(`unexpected argument \`${only}\` after \`-c TEXT\`; quote the whole text`);
    return text;
  }
  if (only === undefined) throw new UsageError("no command given; use `-- COMMAND...`, `-c TEXT` or `--ndjson`");
  return words.length === 1 && !/^[\w@%+=:,./-]+$/.test(only) ? only : words;
}

function show(verdict: Verdict, json: boolean, io: Io): void {
  if (json) printJson(verdict, io);
  else io.out(renderVerdict(verdict, { color: io.color, columns: io.columns }));
}

function exitCode({ verdict }: Verdict): number {
  if (verdict === "allow") return 0;
  return verdict === "ask" ? EXIT_ASK : EXIT_REFUSED;
}

async function checkLines(io: Io, options: CheckOptions): Promise<void> {
  for await (const line of createInterface({ input: io.stdin, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line.trim() === "") continue;
    io.out(`${JSON.stringify(answer(line, options))}\n`);
    await io.drained();
  }
}

/**
 * Returns the verdict on one line of input. For an invalid line, returns an error, so that every line of input has one
 * line of output.
 */
function answer(line: string, options: CheckOptions): unknown {
  try {
    const { command, ...own } = request(line, options);
    return evaluate(command, { ...options, ...own });
  } catch (error) {
    const known = error instanceof SallyportError ? error : invalid(String(error));
    return { error: known.toJSON() };
  }
}

function request(line: string, options: CheckOptions): { command: string | string[]; cwd?: string; agent?: string } {
  const value = parsed(line);
  if (typeof value === "string") return { command: value };
  if (typeof value !== "object" || value === null) throw invalid("the line must be a JSON string or object");
  const { command, shell, cwd, agent } = value as Record<string, unknown>;
  if (typeof command !== "string" && !(Array.isArray(command) && command.every((word) => typeof word === "string"))) {
    throw invalid("`command` must be a string or a list of strings");
  }
  if (shell !== undefined && typeof shell !== "boolean") throw invalid("`shell` must be true or false");
  if (cwd !== undefined && typeof cwd !== "string") throw invalid("`cwd` must be a string");
  if (agent !== undefined && typeof agent !== "string") throw invalid("`agent` must be a string");
  return {
    // Without a shell the text is split as by Python's shlex, and nothing is expanded.
    command: typeof command === "string" && shell === false ? words(command) : (command as string | string[]),
    ...(cwd === undefined ? {} : { cwd: resolve(options.cwd ?? ".", cwd) }),
    ...(agent === undefined ? {} : { agent }),
  };
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    throw invalid(`the line is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function words(text: string): string[] {
  const split = splitWords(text);
  if (!split) throw invalid("a quote in `command` is not closed");
  return split;
}

function invalid(message: string): SallyportError {
  return new SallyportError("InvalidRequest", message, [
    {
      action: "fix_line",
      hint: 'Send one JSON string, or {"command": "…", "shell": true, "cwd": "…", "agent": "…"}, per line.',
    },
  ]);
}
