import { type Headless, KEY, MODEL, write } from "./headless.ts";

export const opencode: Headless = {
  name: "opencode",
  package: "opencode-ai",
  program: "opencode",
  launch: ({ home, model, prompt }) => {
    const name = `stand-in/${MODEL}`;
    write(home, ".config/opencode/opencode.json", {
      autoupdate: false,
      share: "disabled",
      provider: {
        "stand-in": {
          npm: "@ai-sdk/openai-compatible",
          name: "Stand-in model",
          options: { baseURL: `${model}/v1`, apiKey: KEY },
          models: { [MODEL]: { name: "Stand-in" } },
        },
      },
      model: name,
      small_model: name,
    });
    const off = ["AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "SHARE"];
    return { args: ["run", prompt], env: Object.fromEntries(off.map((what) => [`OPENCODE_DISABLE_${what}`, "1"])) };
  },
  ownShell: (command) => ({ name: "bash", input: { command, description: "Run a command" } }),
};
