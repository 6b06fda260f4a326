import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { CONFIG_NAME, operatorConfigPath } from "../../config/load.ts";
import { ASK, NETWORK, SANDBOX } from "../../core/settings.ts";
import type { Command, Invocation } from "../command.ts";
import { commentedConfig } from "../init/commented.ts";
import { askQuestions, type Chosen, defaultsFor } from "../init/questions.ts";
import { choiceOption } from "../options.ts";
import { UsageError } from "../usage-error.ts";

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
    insistOnNothingElse(invocation);
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

function insistOnNothingElse({ positionals, rest }: Invocation): void {
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
