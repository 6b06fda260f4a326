import {
  assertRunsNothing,
  FAILED,
  type HookAnswer,
  type HookCall,
  type HookFormat,
  type HostObject,
  json,
  NOTHING,
  objectField,
  refusal,
  textField,
  UnknownEvent,
} from "./format.ts";

/** Tools whose input has a command for a shell. `Monitor` can also watch a WebSocket. */
const SHELL_TOOLS = new Set(["Bash", "Monitor"]);
/** Tools that run code that cannot be judged. */
const CODE_TOOLS = new Set(["PowerShell", "REPL"]);
/** Modes in which the host asks its user. In the others it decides itself, or a model does. */
const ASKING_MODES = new Set(["default", "acceptEdits", "plan"]);

/**
 * PreToolUse of Claude Code 2.1. Exit code 2 denies as well, with the reason on stderr; any other failure would allow. With
 * the exit code, the model is also told the command line of the hook.
 */
export const claudeCode: HookFormat = {
  name: "claude-code",
  keepsDirectory: true,
  rewrites: true,
  read: (event, env) => {
    const mode = typeof event.permission_mode === "string" ? event.permission_mode : "";
    // An SDK or `-p` has no user to ask.
    const canAsk = ASKING_MODES.has(mode) && !(env.CLAUDE_CODE_ENTRYPOINT ?? "").startsWith("sdk");
    return preToolUse(event, {
      shells: SHELL_TOOLS,
      code: CODE_TOOLS,
      canAsk,
      project: env.CLAUDE_PROJECT_DIR ?? null,
    });
  },
  answer: (event, decision) => {
    if (decision.kind === "pass") return NOTHING;
    if (decision.kind === "deny") return denial(decision.reason);
    const [command = ""] = decision.commands;
    return json({
      hookSpecificOutput: {
        hookEventName: "PreToolUse",
        permissionDecision: decision.kind === "ask" ? "ask" : "allow",
        ...(decision.kind === "ask" ? { permissionDecisionReason: decision.reason } : {}),
        updatedInput: { ...objectField(event, "tool_input"), command },
      },
    });
  },
  failure: refusal(FAILED),
};

/** Denies in the format of Claude Code, which several hosts have adopted. */
export function denial(reason: string): HookAnswer {
  return json({
    hookSpecificOutput: {
      hookEventName: "PreToolUse",
      permissionDecision: "deny",
      permissionDecisionReason: reason,
    },
  });
}

interface Tools {
  shells: ReadonlySet<string>;
  code: ReadonlySet<string>;
  canAsk: boolean;
  project: string | null;
}

/** Reads the event that Claude Code defined and several hosts have adopted. */
export function preToolUse(event: HostObject, { shells, code, canAsk, project }: Tools): HookCall {
  const name = textField(event, "hook_event_name");
  if (name !== "PreToolUse") throw new UnknownEvent(`the event is \`${name}\`, not \`PreToolUse\``);
  const tool = textField(event, "tool_name");
  if (code.has(tool)) throw new UnknownEvent(`code for \`${tool}\` cannot be checked; use a shell command`);
  if (!shells.has(tool)) {
    if (!tool.startsWith("mcp__")) assertRunsNothing(tool, event.tool_input);
    return { kind: "other" };
  }
  const input = objectField(event, "tool_input");
  if (tool === "Monitor" && input.command === undefined) return { kind: "other" };
  return {
    kind: "commands",
    session: textField(event, "session_id"),
    cwd: textField(event, "cwd"),
    project,
    commands: [textField(input, "command")],
    readOnly: event.permission_mode === "plan",
    canAsk,
  };
}
