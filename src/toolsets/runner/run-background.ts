import { RUNS } from "../annotations.ts";
import { tool } from "../define.ts";
import { refusal } from "../refusal.ts";
import { startOptions } from "../run-options.ts";
import { repeatedCommand } from "../texts/command.ts";
import { RunBackgroundInput, RunBackgroundResult } from "./schema.ts";

export const runBackground = tool({
  name: "run_background",
  title: "Start a background process",
  description:
    "Start a long-running process (server, watcher) through the shell and return its pid at once; it lives on until it ends or kill_process ends it. Give log_file to read its output later (`run` with `tail -n 50 FILE`). Do not use it when the output is needed now: use run. Record the pid for cleanup.",
  input: RunBackgroundInput,
  output: RunBackgroundResult,
  annotations: RUNS,
  operation: "run",
  failed: { success: false, pid: null },
  async handle({ command, intent, cwd, log_file: logFile }, { gateway, context }) {
    const request = { command, intent, ...(cwd ? { cwd } : {}), ...(logFile ? { logFile } : {}) };
    const session = await gateway.start(request, startOptions(context));
    const info = session.info();
    const blocked = info.status === "blocked" || info.status === "denied";
    const refused = refusal(info, {
      success: false,
      pid: null,
      command: repeatedCommand(command),
      process_id: info.id,
      blocked,
      block_reason: blocked ? (info.error?.message ?? null) : null,
    });
    return (
      refused ?? {
        structured: { success: true, pid: info.pid, command: repeatedCommand(command), process_id: info.id },
      }
    );
  },
});
