import { isAbsolute, join } from "node:path";
import { type HookScript, WRITTEN_BY } from "./command-line.ts";
import { assertRunsNothing, FAILED, type HookFormat, json, objectField, refusal, textField } from "./format.ts";

/**
 * opencode has plugins and no command hooks. The plugin `opencodePlugin` sends the arguments of each tool, and uses
 * those of the answer. An exit code other than 0 denies.
 */
export const opencode: HookFormat = {
  name: "opencode",
  keepsDirectory: false,
  rewrites: true,
  read: (event) => {
    const tool = textField(event, "tool");
    const input = objectField(event, "args");
    if (tool !== "bash" && tool !== "shell") {
      if (event.mcp !== true) assertRunsNothing(tool, input);
      return { kind: "other" };
    }
    const project = textField(event, "directory");
    const folder = input.workdir === undefined ? "" : textField(input, "workdir");
    return {
      kind: "commands",
      session: textField(event, "sessionID"),
      cwd: isAbsolute(folder) ? folder : join(project, folder),
      project,
      commands: [textField(input, "command")],
      readOnly: false,
      canAsk: false,
    };
  },
  answer: (event, decision) => {
    if (decision.kind === "deny" || decision.kind === "ask") return refusal(decision.reason);
    const args = objectField(event, "args");
    const [command = ""] = decision.kind === "run" ? decision.commands : [];
    return json({ args: decision.kind === "run" ? { ...args, command } : args });
  },
  failure: refusal(FAILED),
};

const PROGRAM = /^const \[program, \.\.\.args\] = (\[.*\]);$/m;
const VARIABLES = /^const env = \{ \.\.\.process\.env, \.\.\.(\{.*\}) \};$/m;

/** A plugin that calls the hook. */
export const opencodePlugin: HookScript = {
  write: ({ argv, env }) => `// Sends each command to Sallyport, which decides on it and runs it in a sandbox.
// ${WRITTEN_BY}; \`sallyport setup opencode --remove\` deletes it.
import { spawnSync } from "node:child_process";

const [program, ...args] = ${JSON.stringify(argv)};
const env = { ...process.env, ...${JSON.stringify(env)} };

export const Sallyport = async ({ directory }) => ({
  "tool.execute.before": async (call, output) => {
    const event = { tool: call.tool, sessionID: call.sessionID, callID: call.callID, directory, args: output.args };
    const hook = spawnSync(program, args, { input: JSON.stringify(event), encoding: "utf8", timeout: 60000, env });
    if (hook.error || hook.status !== 0) throw new Error(hook.stderr?.trim() || ${JSON.stringify(FAILED)});
    const answer = JSON.parse(hook.stdout);
    if (typeof answer.args !== "object" || answer.args === null) throw new Error(${JSON.stringify(FAILED)});
    Object.assign(output.args, answer.args);
  },
});
`,
  read(text) {
    const argv = textsIn(PROGRAM.exec(text)?.[1]);
    const env = textsIn(VARIABLES.exec(text)?.[1]);
    if (!Array.isArray(argv) || argv[2] !== "hook" || argv[3] !== opencode.name) return null;
    const found = { argv, env: env === null || Array.isArray(env) ? {} : env };
    return { ...found, failsClosed: this.write(found) === text };
  },
};

/** Reads a JSON list or object of texts. */
function textsIn(json: string | undefined): string[] | Record<string, string> | null {
  try {
    const value: unknown = JSON.parse(json ?? "null");
    if (typeof value !== "object" || value === null) return null;
    if (!Object.values(value).every((each) => typeof each === "string")) return null;
    return value as string[] | Record<string, string>;
  } catch {
    return null;
  }
}
