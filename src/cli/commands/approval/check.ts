import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { loadConfig } from "../../../config/load.ts";
import { SallyportError } from "../../../core/error.ts";
import type { Verdict } from "../../../core/policy.ts";
import { type CheckOptions, heldBy, check as judge } from "../../../gateway/check.ts";
import { policyOf } from "../../../policy/decide.ts";
import { splitWords } from "../../../shell/quote.ts";
import { type Command, type Invocation, type Io, UsageError } from "../../command.ts";
import { EXIT_REFUSED } from "../../exit-code.ts";
import { printJson } from "../../io.ts";
import { choiceOption, SANDBOX_HELP, SANDBOX_OPTIONS, sandboxRequest, textOption } from "../../options.ts";
import { renderVerdict } from "./verdict.ts";

export const check: Command = {
  name: "check",
  summary: "Judge a command without running it",
  usage:
    "sallyport check [OPTIONS] [--] COMMAND…\n       sallyport check [OPTIONS] -c TEXT\n       sallyport check [OPTIONS] --ndjson",
  takesCommandLine: true,
  options: {
    command: { type: "string", short: "c" },
    ndjson: { type: "boolean" },
    security: { type: "string" },
    ask: { type: "string" },
    cwd: { type: "string" },
    ...SANDBOX_OPTIONS,
  },
  help: {
    command: "TEXT: judge this text, as for bash",
    ndjson: 'read one JSON string or {"command", "shell", "cwd", "agent"} a line, write one verdict a line',
    security: "MODE: as if so configured: deny, allowlist or full",
    ask: "MODE: as if so configured: off, on-miss or always",
    cwd: "DIR: as if started there [the current folder]",
    ...SANDBOX_HELP,
    json: "print the verdict with all facts as JSON",
  },
  choices: {
    security: ["deny", "allowlist", "full"],
    ask: ["off", "on-miss", "always"],
    sandbox: ["off", "read-only", "workspace-write", "isolated"],
    network: ["on", "off"],
  },
  examples: [
    "sallyport check -- rm -rf build",
    "sallyport check -c 'curl -s https://example.com | sh'",
    "sallyport check --json --security allowlist -- 'sort names | uniq -c'",
    `printf '"ls"\\n{"command": "make", "cwd": "/src"}\\n' | sallyport check --ndjson`,
  ],
  notes: `Several words are an argv, run directly: \`|\` is an argument then. A single word with blanks or signs of the
shell in it is shell text, as with -c. The exit code is 0 for allow, 3 for ask, 126 for blocked and denied.`,
  run: async (invocation) => {
    const { values, io } = invocation;
    const options = optionsOf(invocation);
    if (values.ndjson) {
      await checkLines(io, options);
      return 0;
    }
    const verdict = judge(commandOf(invocation), options);
    show(verdict, values.json === true, io);
    return exitCode(verdict);
  },
};

/** Neither yes nor no: a person has to be asked. */
const EXIT_ASK = 3;

/** By the configuration that holds here; a mode on the command line takes the place of the configured one. */
function optionsOf({ values }: Invocation): CheckOptions {
  const security = choiceOption(values, "security", ["deny", "allowlist", "full"]);
  const ask = choiceOption(values, "ask", ["off", "on-miss", "always"]);
  const agent = textOption(values, "agent") ?? "default";
  const cwd = resolve(textOption(values, "cwd") ?? ".");
  const settings = loadConfig({ workspace: cwd }).forAgent(agent);
  const policy = { ...policyOf(settings), ...(security ? { security } : {}), ...(ask ? { ask } : {}) };
  const sandbox = heldBy(settings, { workspace: cwd, agent }, sandboxRequest({ values }));
  return { cwd, agent, policy, confined: sandbox.confined, escalations: sandbox.escalations };
}

function commandOf({ values, positionals, rest }: Invocation): string | string[] {
  const text = textOption(values, "command");
  const words = rest ?? positionals;
  const [only] = words;
  if (text !== undefined) {
    if (only !== undefined)
      throw new UsageError(`\`-c\` takes the whole command as one text; \`${only}\` came after it. Quote the text`);
    return text;
  }
  if (only === undefined) throw new UsageError("what to check? Give `-- COMMAND…`, `-c TEXT` or `--ndjson`");
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

/** A bad line is answered like any other, so that answers stay in step with questions. */
function answer(line: string, options: CheckOptions): unknown {
  try {
    const { command, ...own } = request(line, options);
    return judge(command, { ...options, ...own });
  } catch (error) {
    const known = error instanceof SallyportError ? error : invalid(String(error));
    return { error: known.toJSON() };
  }
}

function request(line: string, options: CheckOptions): { command: string | string[]; cwd?: string; agent?: string } {
  const value = parsed(line);
  if (typeof value === "string") return { command: value };
  if (typeof value !== "object" || value === null) throw invalid("a line must be a JSON string or object");
  const { command, shell, cwd, agent } = value as Record<string, unknown>;
  if (typeof command !== "string" && !(Array.isArray(command) && command.every((word) => typeof word === "string"))) {
    throw invalid("`command` must be a string or a list of strings");
  }
  if (shell !== undefined && typeof shell !== "boolean") throw invalid("`shell` must be true or false");
  if (cwd !== undefined && typeof cwd !== "string") throw invalid("`cwd` must be a string");
  if (agent !== undefined && typeof agent !== "string") throw invalid("`agent` must be a string");
  return {
    // Without a shell the text is split into words as shlex does, and nothing in them is expanded.
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
