import type { Toolset } from "../define.ts";
import { renaming } from "../rename.ts";
import { Bash } from "./bash.ts";
import { BashOutput } from "./bash-output.ts";
import { KillShell } from "./kill-shell.ts";

const use_shell_id = { action: "use_shell_id", hint: "Give the shell_id that Bash returned." };

/** The Bash tool with its background shells. */
export const BASH: Toolset = {
  name: "bash",
  tools: [Bash, BashOutput, KillShell],
  rename: renaming({
    SessionNotFound: { recovery: [use_shell_id], only: true },
    AmbiguousId: { recovery: [use_shell_id], only: true },
  }),
};
