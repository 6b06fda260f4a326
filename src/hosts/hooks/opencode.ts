import { isAbsolute, join } from "node:path";
import { assertRunsNothing, FAILED, type HookFormat, json, objectField, refusal, textField } from "./format.ts";

/**
 * opencode has plugins and no command hooks. The plugin of `opencodePlugin` sends the arguments of each tool, and uses
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

/** Returns the source of a plugin that calls the hook. `argv` is the hook's program with its arguments. */
export function opencodePlugin(argv: readonly string[]): string {
  return `// Sends each command to Sallyport, which decides on it and runs it in a sandbox. Written by \`sallyport setup\`.
import { spawnSync } from "node:child_process";

const [program, ...args] = ${JSON.stringify(argv)};

export const Sallyport = async ({ directory }) => ({
  "tool.execute.before": async (call, output) => {
    const event = { tool: call.tool, sessionID: call.sessionID, callID: call.callID, directory, args: output.args };
    const hook = spawnSync(program, args, { input: JSON.stringify(event), encoding: "utf8", timeout: 60000 });
    if (hook.error || hook.status !== 0) throw new Error(hook.stderr?.trim() || ${JSON.stringify(FAILED)});
    const answer = JSON.parse(hook.stdout);
    if (typeof answer.args !== "object" || answer.args === null) throw new Error(${JSON.stringify(FAILED)});
    Object.assign(output.args, answer.args);
  },
});
`;
}
