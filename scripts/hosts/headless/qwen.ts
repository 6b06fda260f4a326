import { type Headless, KEY, MODEL, write } from "./headless.ts";

export const qwen: Headless = {
  name: "qwen",
  package: "@qwen-code/qwen-code",
  program: "qwen",
  launch: ({ home, model, prompt }) => {
    write(home, ".qwen/settings.json", {
      security: { auth: { selectedType: "openai" } },
      general: { enableAutoUpdate: false },
      privacy: { usageStatisticsEnabled: false },
    });
    return {
      args: ["-p", prompt, "--approval-mode", "yolo"],
      env: { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${model}/v1`, OPENAI_MODEL: MODEL },
    };
  },
  ownShell: (command) => ({ name: "run_shell_command", input: { command, is_background: false } }),
  otherCalls: {
    "in the background": (command) => ({ name: "run_shell_command", input: { command, is_background: true } }),
  },
};
