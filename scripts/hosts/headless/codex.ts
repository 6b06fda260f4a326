import { type Headless, KEY, MODEL, write } from "./headless.ts";

export const codex: Headless = {
  name: "codex",
  package: "@openai/codex",
  program: "codex",
  launch: ({ home, model, prompt, mode }) => {
    write(
      home,
      ".codex/config.toml",
      `model = "${MODEL}"
model_provider = "stand-in"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false

[model_providers.stand-in]
name = "Stand-in model"
base_url = "${model}/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
supports_websockets = false

[analytics]
enabled = false
`,
    );
    // A person reviews hooks once, in the terminal interface.
    const trust = mode === "hook" ? ["--dangerously-bypass-hook-trust"] : [];
    return { args: ["exec", "--skip-git-repo-check", ...trust, prompt], env: { OPENAI_API_KEY: KEY } };
  },
  ownShell: (command) => ({ name: "exec_command", input: { cmd: command } }),
  otherCalls: {
    "another shell": (command) => ({ name: "exec_command", input: { cmd: command, shell: "/bin/sh", login: false } }),
    "on a terminal": (command) => ({ name: "exec_command", input: { cmd: command, tty: true } }),
    "the tool of older versions": (command) => ({ name: "shell", input: { command: ["bash", "-lc", command] } }),
  },
};
