import { LOOKS } from "../annotations.ts";
import { tool } from "../define.ts";
import { neverRan } from "../refusal.ts";
import { MonitorInput, MonitorResult } from "./schema.ts";
import { neverStarted, processEntry } from "./text.ts";

export const processMonitor = tool({
  name: "process.monitor",
  title: "Check a process",
  description:
    "State (running, completed, killed or timed_out), exit code, elapsed time and resource usage of a process. Its output is in process.logs. While it is running, do something else and ask again.",
  input: MonitorInput,
  output: MonitorResult,
  annotations: LOOKS,
  operation: "read",
  async handle({ process_id }, { gateway }) {
    const session = await gateway.find(process_id);
    await gateway.permit("read", session);
    const info = session.info();
    if (!neverRan(info)) return { structured: processEntry(info, session.usage().usage) };
    return { structured: { process_id: info.id }, failure: neverStarted(info) };
  },
});
