import { type Headless, KEY, MODEL, write } from "./headless.ts";

const PROVIDER = "openai-compatible";

export const cline: Headless = {
  name: "cline",
  package: "cline",
  program: "cline",
  launch: ({ home, model, prompt }) => {
    write(home, ".cline/data/settings/providers.json", {
      version: 1,
      lastUsedProvider: PROVIDER,
      modes: {},
      providers: {
        [PROVIDER]: {
          settings: { provider: PROVIDER, apiKey: KEY, model: MODEL, baseUrl: `${model}/v1` },
          updatedAt: "2026-01-01T00:00:00.000Z",
          tokenSource: "manual",
        },
      },
    });
    return { args: [prompt], env: { CLINE_TELEMETRY_DISABLED: "1", CLINE_NO_AUTO_UPDATE: "1" } };
  },
  ownShell: (command) => ({ name: "run_commands", input: { commands: [command] } }),
  sendsJson: true,
};
