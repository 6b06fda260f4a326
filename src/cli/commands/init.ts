import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { createInterface } from "node:readline/promises";
import { fileURLToPath } from "node:url";
import { CONFIG_NAME, operatorConfigPath } from "../../config/load.ts";
import type { ConfigFile } from "../../config/schema.ts";
import { configJsonSchema } from "../../config/schema.ts";
import { ASK, NETWORK, SANDBOX } from "../../core/settings.ts";
import { confinesNothing } from "../../doctor/sandbox.ts";
import { wrap } from "../../text/width.ts";
import { type Command, type Invocation, type Io, UsageError } from "../command.ts";
import { stateFolder } from "../open.ts";
import { choiceOption } from "../options.ts";
import { assertNoAgentHost } from "../person.ts";

export const init: Command = {
  name: "init",
  summary: "Create a configuration file",
  usage: "sallyport init [OPTIONS]",
  description: `
    Writes a sallyport.json in which each key is explained in a comment. On a terminal, asks for the settings that no
    option specifies; otherwise uses their defaults.

    The operator's file is $XDG_CONFIG_HOME/sallyport/sallyport.json, by default
    ~/.config/sallyport/sallyport.json.`,
  options: {
    sandbox: { type: "string" },
    network: { type: "string" },
    ask: { type: "string" },
    workspace: { type: "boolean" },
    force: { type: "boolean", short: "f" },
    print: { type: "boolean" },
  },
  help: {
    sandbox: "PROFILE: Sandbox profile: workspace-write, read-only, isolated or off (default: workspace-write)",
    network: "MODE: Network access: on or off (default: on)",
    ask: "MODE: When to require approval: on-miss, always or off (default: on-miss)",
    workspace: "Write ./sallyport.json, which can only tighten the operator's configuration",
    force: "Overwrite an existing file",
    print: "Print the configuration instead of writing it",
  },
  choices: { sandbox: SANDBOX, network: NETWORK, ask: ASK },
  examples: [
    ["Create the operator's configuration", "sallyport init"],
    ["Disable the network and require approval for every command", "sallyport init --network off --ask always"],
    ["Restrict the current workspace to read-only access", "sallyport init --workspace --sandbox read-only"],
  ],
  run: async (invocation) => {
    const { values, io } = invocation;
    assertNoArguments(invocation);
    const known = said(values);
    const asks = io.isTTY.stdin && io.isTTY.stderr && !values.print;
    const path = values.workspace ? join(process.cwd(), CONFIG_NAME) : operatorConfigPath();
    // Fails before asking any questions. The write below detects a file that is created in the meantime.
    if (!values.print && !values.force && existsSync(path)) throw isThere(path);
    const isUnconfined =
      !values.workspace && known.sandbox !== "off" && confinesNothing({ state: stateFolder(values) });
    // The operator's file decides what needs approval, so an agent must not write it (invariant 7).
    if (!values.print && !values.workspace) await assertNoAgentHost();
    const questions = isUnconfined ? [UNCONFINED, ...QUESTIONS] : QUESTIONS;
    const answers = asks ? await askQuestions(questions, known, io) : defaultsFor(known);
    if (answers === null) return 125;
    const chosen = configOf(answers);
    const text = commentedConfig(chosen, schemaSeenFrom(dirname(path)));
    if (values.print) {
      io.out(text);
      return 0;
    }
    write(path, text, values.force === true);
    io.out(`${path}\n`);
    if (isUnconfined && chosen.sandbox !== "off" && chosen.require !== false) io.err(NOTHING_RUNS);
    if (io.isTTY.stderr)
      io.err("The configuration applies from the next command on. Run `sallyport doctor` to check this machine.\n");
    return 0;
  },
};

function assertNoArguments({ positionals, rest }: Invocation): void {
  const [unexpected] = [...positionals, ...(rest ?? [])];
  if (unexpected !== undefined)
    throw new UsageError(`unexpected argument \`${unexpected}\`; \`init\` takes only options`);
}

function said(values: Invocation["values"]): Partial<Chosen> {
  const sandbox = choiceOption(values, "sandbox", SANDBOX);
  const network = choiceOption(values, "network", NETWORK);
  const ask = choiceOption(values, "ask", ASK);
  return { ...(sandbox ? { sandbox } : {}), ...(network ? { network } : {}), ...(ask ? { ask } : {}) };
}

/** Returns the path of the schema relative to the configuration file, for editors. */
function schemaSeenFrom(folder: string): string {
  const schema = fileURLToPath(new URL("../../../schema/sallyport.schema.json", import.meta.url));
  const seen = relative(folder, schema);
  return seen.startsWith("../../../") ? schema : seen.startsWith(".") ? seen : `./${seen}`;
}

function write(path: string, text: string, over: boolean): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    // "wx" neither overwrites a file nor follows a link.
    writeFileSync(path, text, { flag: over ? "w" : "wx", mode: 0o644 });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") throw isThere(path);
    throw new UsageError(`cannot write \`${path}\`: ${code ?? message}`);
  }
}

function isThere(path: string): UsageError {
  return new UsageError(
    `\`${path}\` already exists; use \`--force\` to overwrite it or \`--print\` to print the configuration`,
  );
}

type Chosen = Pick<ConfigFile, "sandbox" | "network" | "ask">;

/** The answers to the questions. `require` is asked only where nothing confines commands. */
type Answers = Required<Chosen> & { require?: "refuse" | "run" };

function configOf({ require, ...chosen }: Answers): Chosen & Pick<ConfigFile, "require"> {
  return require === "run" ? { ...chosen, require: false } : chosen;
}

const NOTHING_RUNS = `Nothing on this machine confines commands, so none run with this configuration. Run \`sallyport doctor\` to see
how to enable the sandbox. To run commands anyway, set "require": false in the file.
`;

interface Question {
  key: keyof Answers;
  asks: string;
  /** The first answer is the default. */
  answers: [value: string, meaning: string][];
}

const UNCONFINED: Question = {
  key: "require",
  asks: "Nothing on this machine confines commands. May they run anyway?",
  answers: [
    ["refuse", "no; `sallyport doctor` says how to enable the sandbox"],
    ["run", "yes, with all rights of your account; more commands require approval"],
  ],
};

const QUESTIONS: Question[] = [
  {
    key: "sandbox",
    asks: "What may commands write to?",
    answers: [
      ["workspace-write", "the workspace and a private temporary directory"],
      ["read-only", "nothing except `/dev/null` and similar devices"],
      ["isolated", "the workspace; other processes are hidden"],
      ["off", "everything you can write to; more commands require approval"],
    ],
  },
  {
    key: "network",
    asks: "May commands use the network?",
    answers: [
      ["on", "yes"],
      ["off", "no, unless a person approves it"],
    ],
  },
  {
    key: "ask",
    asks: "When do commands require approval?",
    answers: [
      ["on-miss", "when policy does not allow them and the sandbox cannot contain them"],
      ["always", "always"],
      ["off", "never; commands that would require approval are denied"],
    ],
  },
];

/** Asks for the settings that no option specifies. Returns null when the user cancels. */
async function askQuestions(questions: Question[], known: Partial<Chosen>, io: Io): Promise<Answers | null> {
  const lines = createInterface({ input: io.stdin, output: process.stderr });
  const gone = new AbortController();
  lines.once("close", () => gone.abort());
  const chosen: Record<string, unknown> = { ...known };
  try {
    for (const { key, asks, answers } of questions) {
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
  return chosen as unknown as Answers;
}

function defaultsFor(known: Partial<Chosen>): Answers {
  const defaults = Object.fromEntries(QUESTIONS.map(({ key, answers }) => [key, answers[0]?.[0]]));
  return { ...defaults, ...known } as unknown as Answers;
}

const WIDTH = 96;

/**
 * Returns a configuration with the chosen settings, and with all other keys as comments. The chosen settings come last,
 * so that any commented line above can be uncommented without changes to its comma.
 */
function commentedConfig(chosen: Partial<ConfigFile>, schemaPath: string): string {
  const { properties = {} } = configJsonSchema();
  const keys = Object.keys(properties).filter((key) => key !== "$schema" && key !== "agents");
  const others = keys.filter((key) => !Object.hasOwn(chosen, key));
  const entry = (key: string, value: unknown) => `${JSON.stringify(key)}: ${JSON.stringify(value)}`;
  const comment = (key: string) =>
    wrap(String(properties[key]?.description ?? ""), WIDTH).map((line) => `  // ${line}`);
  return [
    "{",
    `  ${entry("$schema", schemaPath)},`,
    "",
    ...others.flatMap((key) => [...comment(key), `  // ${entry(key, exampleOf(key, properties[key]))},`, ""]),
    ...comment("agents"),
    '  // "agents": { "ci": { "ask": "off" } },',
    "",
    ...Object.entries(chosen).flatMap(([key, value], index, all) => [
      ...comment(key),
      `  ${entry(key, value)}${index + 1 < all.length ? "," : ""}`,
    ]),
    "}",
    "",
  ].join("\n");
}

/** Example values of keys whose default is empty. */
const EXAMPLES: Record<string, unknown> = {
  writable: ["~/.cache/my-tool"],
  denied: ["~/private"],
  user: "nobody",
  require: true,
  rules: [{ prefix: ["npm", "publish"], decision: "deny", message: "The pipeline publishes releases." }],
  allowlist: [{ pattern: "git", args: "status **" }],
  safeBins: ["head", "tail", "wc"],
  allowDenied: ["privilege"],
  env: { pass: ["NPM_TOKEN"] },
  permissions: { kill: "ask" },
  timeouts: { defaultSeconds: 120, maxSeconds: 3600 },
  callback: { command: ["/usr/local/bin/on-exit"] },
  fleet: { servers: "nats://10.0.0.1:4222" },
};

/** Returns an example value, the default, or an object of the defaults of its keys. */
function exampleOf(key: string, property: Record<string, unknown> | undefined): unknown {
  if (Object.hasOwn(EXAMPLES, key)) return EXAMPLES[key];
  if (property?.default !== undefined) return property.default;
  const inner = (property?.properties ?? {}) as Record<string, Record<string, unknown>>;
  const known = Object.entries(inner).filter(([, each]) => each.default !== undefined);
  return Object.fromEntries(known.map(([name, each]) => [name, each.default]));
}
