import { denial, preToolUse } from "./claude-code.ts";
import { FAILED, type HookFormat, json, NOTHING, objectField, refusal } from "./format.ts";

/**
 * PreToolUse of Qwen Code 0.24. Exit code 2 with a reason on stderr denies as well; any other failure would allow. It ignores a
 * changed command, and answers a question with a refusal.
 */
export const qwen: HookFormat = {
  name: "qwen",
  keepsDirectory: false,
  rewrites: false,
  read: (event, env) => {
    const call = preToolUse(event, {
      shells: new Set(["run_shell_command"]),
      code: new Set(),
      canAsk: false,
      project: env.QWEN_PROJECT_DIR ?? null,
    });
    if (call.kind === "other") return call;
    const { directory } = objectField(event, "tool_input");
    return typeof directory === "string" && directory.startsWith("/") ? { ...call, cwd: directory } : call;
  },
  answer: (_, decision) => {
    if (decision.kind === "deny" || decision.kind === "ask") return denial(decision.reason);
    if (decision.kind === "pass") return NOTHING;
    return json({ hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "allow" } });
  },
  failure: refusal(FAILED),
};
