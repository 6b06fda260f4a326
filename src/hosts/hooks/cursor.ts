import { isAbsolute, join } from "node:path";
import { assertRunsNothing, FAILED, type HookFormat, json, objectField, textField, UnknownEvent } from "./format.ts";

const deny = (reason: string) => json({ permission: "deny", user_message: reason, agent_message: reason });

/**
 * preToolUse of Cursor 3.9. A failure, also an empty answer, would allow, unless the hook is configured with `failClosed`.
 * Its model gets `user_message` of a denial, and only if the exit code is 0: with 2, it gets stdout as it is. Answering
 * `allow` for tools that run no commands could skip questions of the host, so the answer is empty for them.
 */
export const cursor: HookFormat = {
  name: "cursor",
  keepsDirectory: false,
  rewrites: true,
  read: (event) => {
    const name = textField(event, "hook_event_name");
    if (name !== "preToolUse") throw new UnknownEvent(`the event is \`${name}\`, not \`preToolUse\``);
    const tool = textField(event, "tool_name");
    if (tool !== "Shell") {
      if (!tool.startsWith("MCP:")) assertRunsNothing(tool, event.tool_input);
      return { kind: "other" };
    }
    const input = objectField(event, "tool_input");
    const [project] = Array.isArray(event.workspace_roots) ? (event.workspace_roots as unknown[]) : [];
    // `cwd` of the event is empty; the folder of the command is in the input, if the model has given one.
    const folder = [input.cwd, input.working_directory, event.cwd, project].find(
      (each) => typeof each === "string" && each !== "",
    );
    if (typeof folder !== "string") throw new UnknownEvent("the event has no working directory");
    return {
      kind: "commands",
      session: textField(event, "conversation_id"),
      cwd: isAbsolute(folder) || typeof project !== "string" ? folder : join(project, folder),
      project: typeof project === "string" ? project : null,
      commands: [textField(input, "command")],
      readOnly: false,
      canAsk: false,
    };
  },
  answer: (event, decision) => {
    if (decision.kind === "pass") return json({});
    if (decision.kind === "deny") return deny(decision.reason);
    const [command = ""] = decision.commands;
    return json({ permission: "allow", updated_input: { ...objectField(event, "tool_input"), command } });
  },
  failure: deny(FAILED),
};
