import { ENDS } from "../annotations.ts";
import { tool } from "../define.ts";
import { endSession } from "../end-session.ts";
import { DEFAULT_GRACE, KillProcessInput, KillProcessResult } from "./schema.ts";
import { notOurs } from "./text.ts";

export const killProcess = tool({
  name: "kill_process",
  title: "End a process",
  description: `End a process that run_background started, with everything it started itself: SIGTERM, then SIGKILL after graceful_timeout seconds (default ${DEFAULT_GRACE}). One that is gone already is a success; a pid that was not started here is refused.`,
  input: KillProcessInput,
  output: KillProcessResult,
  annotations: ENDS,
  operation: "kill",
  failed: { success: false },
  async handle({ pid, intent, graceful_timeout: seconds }, { gateway }) {
    const session = gateway.sessionWithPid(pid);
    if (!session) return { structured: { success: false }, failure: notOurs(pid) };
    await endSession(session, { graceMs: seconds * 1000, intent });
    const { status, lingering } = session.info();
    return { structured: { success: status !== "running" && !lingering } };
  },
});
