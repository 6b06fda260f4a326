import { ENDS } from "../annotations.ts";
import { tool } from "../define.ts";
import { endSession } from "../end-session.ts";
import { exitStatus } from "../texts/exit-status.ts";
import { KillShellInput, KillShellResult } from "./schema.ts";
import { killedText } from "./text.ts";

export const KillShell = tool({
  name: "KillShell",
  title: "End a background command",
  description: "End a background command and everything it started (SIGTERM, then SIGKILL after 5 s).",
  input: KillShellInput,
  output: KillShellResult,
  annotations: ENDS,
  operation: "kill",
  async handle({ shell_id }, { gateway }) {
    const session = await gateway.find(shell_id);
    const killed = await endSession(session);
    const info = session.info();
    return {
      structured: { shell_id: info.id, status: info.status, exit_code: exitStatus(info), killed },
      text: killedText(info.id, info.status, killed),
    };
  },
});
