import {
  assertRunsNothing,
  FAILED,
  type HookFormat,
  type HostObject,
  json,
  NOTHING,
  textField,
  UnknownEvent,
} from "./format.ts";

/** Tools that type into a shell of the host, which may be at its prompt. */
const TYPING_TOOLS = new Set(["write_bash", "write_powershell"]);
const deny = (reason: string) => json({ permissionDecision: "deny", permissionDecisionReason: reason });

/**
 * preToolUse of Copilot CLI 1.0, with its own names or with those of VS Code. Only an answer denies: an exit code other
 * than 0 would allow.
 */
export const copilot: HookFormat = {
  name: "copilot",
  // Its shell is kept for the conversation.
  keepsDirectory: true,
  rewrites: true,
  read: (event) => {
    const { tool, session } = namesOf(event);
    if (TYPING_TOOLS.has(tool)) throw new UnknownEvent(`input for \`${tool}\` cannot be checked; run a new command`);
    if (tool === "powershell") throw new UnknownEvent("code for `powershell` cannot be checked; use `bash`");
    if (tool !== "bash") {
      assertRunsNothing(tool, argumentsOf(event));
      return { kind: "other" };
    }
    const cwd = textField(event, "cwd");
    const commands = [textField(argumentsOf(event), "command")];
    return { kind: "commands", session, cwd, project: null, commands, readOnly: false, canAsk: false };
  },
  answer: (event, decision) => {
    if (decision.kind === "pass") return NOTHING;
    if (decision.kind === "deny") return deny(decision.reason);
    const [command = ""] = decision.commands;
    return json({ permissionDecision: "allow", modifiedArgs: { ...argumentsOf(event), command } });
  },
  failure: deny(FAILED),
};

function namesOf(event: HostObject): { tool: string; session: string } {
  if (event.toolName !== undefined)
    return { tool: textField(event, "toolName"), session: textField(event, "sessionId") };
  const name = textField(event, "hook_event_name");
  if (name !== "PreToolUse") throw new UnknownEvent(`the event is \`${name}\`, not \`preToolUse\``);
  return { tool: textField(event, "tool_name"), session: textField(event, "session_id") };
}

/** Returns the arguments of the tool, which some versions send as JSON text. */
function argumentsOf(event: HostObject): HostObject {
  const given = event.toolArgs ?? event.tool_input;
  const parsed: unknown = typeof given === "string" ? parse(given) : given;
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed))
    throw new UnknownEvent("the event has no object in `toolArgs`");
  return parsed as HostObject;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new UnknownEvent("the text in `toolArgs` is not JSON");
  }
}
