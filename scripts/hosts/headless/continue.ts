import { join } from "node:path";
import { type Headless, KEY, MODEL, write } from "./headless.ts";

const FILE = ".continue/config.yaml";

export const continueCli: Headless = {
  name: "continue",
  package: "@continuedev/cli",
  program: "cn",
  launch: ({ home, model, prompt }) => {
    write(
      home,
      FILE,
      `name: Local Config
version: 1.0.0
schema: v1
models:
  - name: Stand-in
    provider: openai
    model: ${MODEL}
    apiBase: ${model}/v1
    apiKey: ${KEY}
    roles: [chat]
    capabilities: [tool_use]
`,
    );
    return {
      args: ["-p", prompt, "--config", join(home, FILE)],
      env: { CONTINUE_TELEMETRY_ENABLED: "0" },
    };
  },
  ownShell: (command) => ({ name: "Bash", input: { command } }),
  sendsJson: true,
};
