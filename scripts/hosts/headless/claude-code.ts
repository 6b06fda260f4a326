import { type Headless, KEY, write } from "./headless.ts";

export const claudeCode: Headless = {
  name: "claude-code",
  package: "@anthropic-ai/claude-code",
  program: "claude",
  launch: ({ home, model, prompt, mode }) => {
    write(home, ".claude.json", { hasCompletedOnboarding: true });
    // Without this, `-p` refuses its own shell before a hook is asked.
    if (mode === "shell") write(home, ".claude/settings.json", { permissions: { allow: ["Bash"] } });
    return {
      args: ["-p", prompt],
      env: {
        ANTHROPIC_BASE_URL: model,
        ANTHROPIC_API_KEY: KEY,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
        DISABLE_AUTOUPDATER: "1",
      },
    };
  },
  ownShell: (command) => ({ name: "Bash", input: { command, description: "Run a command" } }),
  otherCalls: {
    "in the background": (command) => ({
      name: "Bash",
      input: { command, description: "Run a command", run_in_background: true },
    }),
    Monitor: (command) => ({
      name: "Monitor",
      input: { command, description: "Run a command", timeout_ms: 5000, persistent: false },
    }),
  },
};
