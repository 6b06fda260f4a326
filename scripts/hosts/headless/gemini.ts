import { type Headless, KEY, write } from "./headless.ts";

export const gemini: Headless = {
  name: "gemini",
  package: "@google/gemini-cli",
  program: "gemini",
  launch: ({ home, model, prompt }) => {
    write(home, ".gemini/settings.json", {
      security: { auth: { selectedType: "gemini-api-key" } },
      general: { enableAutoUpdate: false },
      privacy: { usageStatisticsEnabled: false },
    });
    return {
      args: ["-p", prompt, "-m", "gemini-2.5-flash", "--approval-mode", "yolo", "--skip-trust"],
      env: { GEMINI_API_KEY: KEY, GOOGLE_GEMINI_BASE_URL: model },
    };
  },
  ownShell: (command) => ({ name: "run_shell_command", input: { command, description: "Run a command" } }),
  otherCalls: {
    "in the background": (command) => ({ name: "run_shell_command", input: { command, is_background: true } }),
  },
};
