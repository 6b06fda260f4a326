import { denial, preToolUse } from "./claude-code.ts";
import { FAILED, type HookFormat, json, NOTHING, objectField, refusal } from "./format.ts";

/** The host names all of its shell tools `Bash`. */
const SHELL_TOOLS = new Set(["Bash"]);

/**
 * PreToolUse of Codex 0.166. Exit code 2 with a reason on stderr denies as well; any other failure would allow. It cannot ask its
 * user for a hook.
 */
export const codex: HookFormat = {
  name: "codex",
  keepsDirectory: false,
  rewrites: true,
  read: (event) => preToolUse(event, { shells: SHELL_TOOLS, code: new Set(), canAsk: false, project: null }),
  answer: (event, decision) => {
    if (decision.kind === "pass") return NOTHING;
    if (decision.kind === "deny") return denial(decision.reason);
    const [command = ""] = decision.commands;
    return json({
      hookSpecificOutput: {
        hookEventName: "PreToolUse",
        permissionDecision: "allow",
        updatedInput: { ...objectField(event, "tool_input"), command },
      },
    });
  },
  failure: refusal(FAILED),
};
