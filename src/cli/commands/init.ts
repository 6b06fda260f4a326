import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { createInterface } from "node:readline/promises";
import { fileURLToPath } from "node:url";
import { CONFIG_NAME, operatorConfigPath } from "../../config/load.ts";
import type { ConfigFile } from "../../config/schema.ts";
import { configJsonSchema } from "../../config/schema.ts";
import { ASK, NETWORK, SANDBOX } from "../../core/settings.ts";
import { wrap } from "../../text/width.ts";
import { type Command, type Invocation, type Io, UsageError } from "../command.ts";
import { choiceOption } from "../options.ts";

export const init: Command = {
  name: "init",
  summary: "Write a configuration to begin with, every key explained",
  usage: "sallyport init [OPTIONS]",
  options: {
    workspace: { type: "boolean" },
    sandbox: { type: "string" },
    network: { type: "string" },
    ask: { type: "string" },
    force: { type: "boolean", short: "f" },
    print: { type: "boolean" },
  },
  help: {
    workspace: "write ./sallyport.json, which can only tighten, not the operator's own",
    sandbox: "WORD: what the kernel keeps commands from: workspace-write, read-only, isolated or off",
    network: "WORD: on or off",
    ask: "WORD: when a person is asked: on-miss, always or off",
    force: "write over what is there",
    print: "print it instead of writing it",
  },
  choices: { sandbox: SANDBOX, network: NETWORK, ask: ASK },
  examples: [
    "sallyport init",
    "sallyport init --network off --ask always",
    "sallyport init --workspace --sandbox read-only",
  ],
  notes: `On a terminal it asks what the options have not said; piped, that gets its default. The operator's file is
\`$XDG_CONFIG_HOME/sallyport/sallyport.json\`, \`~/.config/sallyport/sallyport.json\` without that variable.`,
  run: async (invocation) => {
    const { values, io } = invocation;
    assertNoArguments(invocation);
    const known = said(values);
    const asks = io.isTTY.stdin && io.isTTY.stderr && !values.print;
    const path = values.workspace ? join(process.cwd(), CONFIG_NAME) : operatorConfigPath();
    // Before anybody is asked anything; what comes in between is seen when it is written.
    if (!values.print && !values.force && existsSync(path)) throw isThere(path);
    const chosen = asks ? await askQuestions(known, io) : defaultsFor(known);
    if (chosen === null) return 125;
    const text = commentedConfig(chosen, schemaSeenFrom(dirname(path)));
    if (values.print) {
      io.out(text);
      return 0;
    }
    write(path, text, values.force === true);
    io.out(`${path}\n`);
    if (io.isTTY.stderr) io.err("It holds from the next command on. `sallyport doctor` checks this machine.\n");
    return 0;
  },
};

function assertNoArguments({ positionals, rest }: Invocation): void {
  const [unexpected] = [...positionals, ...(rest ?? [])];
  if (unexpected !== undefined) throw new UsageError(`\`init\` takes options only; received \`${unexpected}\``);
}

function said(values: Invocation["values"]): Partial<Chosen> {
  const sandbox = choiceOption(values, "sandbox", SANDBOX);
  const network = choiceOption(values, "network", NETWORK);
  const ask = choiceOption(values, "ask", ASK);
  return { ...(sandbox ? { sandbox } : {}), ...(network ? { network } : {}), ...(ask ? { ask } : {}) };
}

/** Editors follow it from where the file lies. */
function schemaSeenFrom(folder: string): string {
  const schema = fileURLToPath(new URL("../../../schema/sallyport.schema.json", import.meta.url));
  const seen = relative(folder, schema);
  return seen.startsWith("../../../") ? schema : seen.startsWith(".") ? seen : `./${seen}`;
}

function write(path: string, text: string, over: boolean): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    // Not through a link, and not over a file that is there: either could be somebody's trap or somebody's work.
    writeFileSync(path, text, { flag: over ? "w" : "wx", mode: 0o644 });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") throw isThere(path);
    throw new UsageError(`${path} cannot be written: ${code ?? message}`);
  }
}

function isThere(path: string): UsageError {
  return new UsageError(`${path} is there already; \`--force\` writes over it, \`--print\` only shows`);
}

type Chosen = Pick<ConfigFile, "sandbox" | "network" | "ask">;

interface Question {
  key: keyof Chosen;
  asks: string;
  /** The first is the default. */
  answers: [value: string, meaning: string][];
}

const QUESTIONS: Question[] = [
  {
    key: "sandbox",
    asks: "What may commands write to?",
    answers: [
      ["workspace-write", "the workspace and a temporary folder of their own"],
      ["read-only", "that temporary folder only"],
      ["isolated", "the workspace, and they see no process of anybody else"],
      ["off", "whatever you may write to; more is asked for then"],
    ],
  },
  {
    key: "network",
    asks: "May they use the network?",
    answers: [
      ["on", "yes"],
      ["off", "no, unless a person says yes to one that asks"],
    ],
  },
  {
    key: "ask",
    asks: "When is a person asked?",
    answers: [
      ["on-miss", "when the sandbox cannot hold what a command could do"],
      ["always", "before every command"],
      ["off", "never: such commands are denied"],
    ],
  },
];

/** Asks what the flags have not said. An empty line takes the default; what is no answer is asked again. */
async function askQuestions(known: Partial<Chosen>, io: Io): Promise<Required<Chosen> | null> {
  const lines = createInterface({ input: io.stdin, output: process.stderr });
  const gone = new AbortController();
  lines.once("close", () => gone.abort());
  const chosen: Record<string, unknown> = { ...known };
  try {
    for (const { key, asks, answers } of QUESTIONS) {
      if (chosen[key] !== undefined) continue;
      const rows = answers.map(([value, meaning], index) => `  ${index + 1}  ${value.padEnd(17)}${meaning}\n`);
      io.err(`\n${asks}\n${rows.join("")}`);
      while (chosen[key] === undefined) {
        const said = (await lines.question(`1 to ${answers.length} [1]: `, { signal: gone.signal })).trim() || "1";
        chosen[key] = (answers[Number(said) - 1] ?? answers.find(([value]) => value === said))?.[0];
      }
    }
  } catch (error) {
    if (!gone.signal.aborted) throw error;
    io.err("\n");
    return null;
  } finally {
    lines.close();
  }
  return chosen as Required<Chosen>;
}

function defaultsFor(known: Partial<Chosen>): Required<Chosen> {
  const defaults = Object.fromEntries(QUESTIONS.map(({ key, answers }) => [key, answers[0]?.[0]]));
  return { ...defaults, ...known } as Required<Chosen>;
}

const WIDTH = 96;

/**
 * A configuration to begin with: what was chosen, and every other key as a comment with its default. What was chosen
 * comes last, so that any line above can be put in force by taking its slashes away.
 */
function commentedConfig(chosen: Partial<ConfigFile>, schemaPath: string): string {
  const { properties = {} } = configJsonSchema();
  const keys = Object.keys(properties).filter((key) => key !== "$schema" && key !== "agents");
  const others = keys.filter((key) => !Object.hasOwn(chosen, key));
  const entry = (key: string, value: unknown) => `${JSON.stringify(key)}: ${JSON.stringify(value)}`;
  const told = (key: string) => wrap(String(properties[key]?.description ?? ""), WIDTH).map((line) => `  // ${line}`);
  return [
    "{",
    `  ${entry("$schema", schemaPath)},`,
    "",
    ...others.flatMap((key) => [...told(key), `  // ${entry(key, exampleOf(key, properties[key]))},`, ""]),
    ...told("agents"),
    '  // "agents": { "ci": { "ask": "off" } },',
    "",
    ...Object.entries(chosen).flatMap(([key, value], index, all) => [
      ...told(key),
      `  ${entry(key, value)}${index + 1 < all.length ? "," : ""}`,
    ]),
    "}",
    "",
  ].join("\n");
}

/** Where an empty default shows nobody what could stand there. */
const EXAMPLES: Record<string, unknown> = {
  writable: ["~/.cache/my-tool"],
  denied: ["~/private"],
  user: "nobody",
  rules: [{ prefix: ["npm", "publish"], decision: "deny", message: "Releases are made by the pipeline." }],
  allowlist: [{ pattern: "git", args: "status **" }],
  safeBins: ["head", "tail", "wc"],
  allowDenied: ["privilege"],
  env: { pass: ["SSH_AUTH_SOCK"] },
  permissions: { kill: "ask" },
  timeouts: { defaultSeconds: 120, maxSeconds: 3600 },
  callback: { command: ["/usr/local/bin/on-exit"] },
  fleet: { servers: "nats://10.0.0.1:4222" },
};

/** An example, else its default, or those of what is in it. */
function exampleOf(key: string, property: Record<string, unknown> | undefined): unknown {
  if (Object.hasOwn(EXAMPLES, key)) return EXAMPLES[key];
  if (property?.default !== undefined) return property.default;
  const inner = (property?.properties ?? {}) as Record<string, Record<string, unknown>>;
  const known = Object.entries(inner).filter(([, each]) => each.default !== undefined);
  return Object.fromEntries(known.map(([name, each]) => [name, each.default]));
}
