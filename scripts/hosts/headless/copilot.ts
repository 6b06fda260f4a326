import { type Headless, KEY, MODEL } from "./headless.ts";

export const copilot: Headless = {
  name: "copilot",
  package: "@github/copilot",
  program: "copilot",
  launch: ({ model, prompt, mode }) => {
    // No configuration file turns off its shell; `sallyport setup` says to start it with this option.
    const own = mode === "mcp" ? ["--excluded-tools", "bash"] : [];
    return {
      args: ["-p", prompt, "--allow-all-tools", "--no-auto-update", "--disable-builtin-mcps", ...own],
      env: {
        COPILOT_PROVIDER_BASE_URL: `${model}/v1`,
        COPILOT_PROVIDER_TYPE: "openai",
        COPILOT_PROVIDER_API_KEY: KEY,
        COPILOT_MODEL: MODEL,
        COPILOT_OFFLINE: "true",
        COPILOT_AUTO_UPDATE: "false",
      },
    };
  },
  ownShell: (command) => ({ name: "bash", input: { command, description: "Run a command" } }),
  otherCalls: {
    asynchronous: (command) => ({ name: "bash", input: { command, description: "Run a command", mode: "async" } }),
  },
};
