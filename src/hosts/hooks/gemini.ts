import { isAbsolute, join } from "node:path";
import {
  assertRunsNothing,
  FAILED,
  type HookFormat,
  json,
  NOTHING,
  objectField,
  refusal,
  textField,
  UnknownEvent,
} from "./format.ts";

/**
 * BeforeTool of Gemini CLI 0.61. Exit code 2 with a reason on stderr denies as well. Exit code 1, and an exit without any output,
 * would allow.
 */
export const gemini: HookFormat = {
  name: "gemini",
  keepsDirectory: false,
  rewrites: true,
  read: (event) => {
    const name = textField(event, "hook_event_name");
    if (name !== "BeforeTool") throw new UnknownEvent(`the event is \`${name}\`, not \`BeforeTool\``);
    const tool = textField(event, "tool_name");
    if (tool !== "run_shell_command") {
      if (!tool.startsWith("mcp_") && event.mcp_context === undefined) assertRunsNothing(tool, event.tool_input);
      return { kind: "other" };
    }
    const input = objectField(event, "tool_input");
    const project = textField(event, "cwd");
    const folder = input.dir_path === undefined ? "" : textField(input, "dir_path");
    return {
      kind: "commands",
      session: textField(event, "session_id"),
      cwd: isAbsolute(folder) ? folder : join(project, folder),
      project,
      commands: [textField(input, "command")],
      readOnly: false,
      // The host asks even in its automatic modes. Without a terminal it would wait without end (host-user.ts).
      canAsk: true,
    };
  },
  answer: (event, decision) => {
    if (decision.kind === "pass") return NOTHING;
    if (decision.kind === "deny") return json({ decision: "deny", reason: decision.reason });
    const [command = ""] = decision.commands;
    return json({
      decision: decision.kind === "ask" ? "ask" : "allow",
      ...(decision.kind === "ask" ? { systemMessage: decision.reason } : {}),
      hookSpecificOutput: {
        hookEventName: "BeforeTool",
        tool_input: { ...objectField(event, "tool_input"), command },
      },
    });
  },
  failure: refusal(FAILED),
};
