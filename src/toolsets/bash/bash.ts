import type { z } from "zod";
import { RUNS } from "../annotations.ts";
import { clampedMs } from "../deadline.ts";
import { type Answer, type Call, tool } from "../define.ts";
import { refusal } from "../refusal.ts";
import { runOptions, startOptions } from "../run-options.ts";
import { exitStatus } from "../texts/exit-status.ts";
import { markRead } from "../unread.ts";
import { BashInput, BashResult, DEFAULT_TIMEOUT, MOST_TIMEOUT, READER } from "./schema.ts";
import { bashOutput, bashText, startedText } from "./text.ts";

type Args = z.output<typeof BashInput>;

export const Bash = tool({
  name: "Bash",
  title: "Run a command",
  description: `Run a command with bash in the workspace root and get its output: stdout and stderr merged in order, at most 100 KiB (the middle is left out, and it says how much). Input is closed. A line \`exit: N\` follows when it failed. After the timeout the command and all it started are killed, what it wrote is kept, and \`bash: timed out after Ns\` and \`exit: 124\` follow: give a longer timeout, or run_in_background for servers, watchers and anything longer than ${MOST_TIMEOUT} s. That returns a shell_id for BashOutput and KillShell. Processes left behind by a foreground command are ended. Some commands need a person's approval: if told so, call again with the same arguments to wait for it. What is blocked stays blocked: report it instead of rephrasing it.`,
  input: BashInput,
  output: BashResult,
  annotations: RUNS,
  operation: "run",
  handle: (args, call) => (args.run_in_background ? start(args, call) : run(args, call)),
});

async function run({ command, description, timeout }: Args, { gateway, root, context }: Call): Promise<Answer> {
  const timeoutMs = clampedMs(gateway, timeout, { byDefault: DEFAULT_TIMEOUT, most: MOST_TIMEOUT });
  // SIGKILL at once, as promised: a command that ignores SIGTERM gets no extra time.
  const request = { command, capture: "merged", timeoutMs, graceMs: 0, intent: description } as const;
  const result = await gateway.run(request, runOptions(context));
  const refused = refusal(result, { shell_id: result.id });
  if (refused) return refused;
  if (result.status === "running") markRead(root, READER, result);
  const output = bashOutput(result);
  return {
    structured: {
      shell_id: result.id,
      status: result.status,
      exit_code: exitStatus(result),
      output: output.text,
      timed_out: result.timedOut,
      left_out_bytes: output.omittedBytes,
      duration_ms: Math.round(result.durationMs),
      warnings: result.warnings,
    },
    text: bashText(result, output.text, timeoutMs),
  };
}

async function start({ command, description }: Args, { gateway, context }: Call): Promise<Answer> {
  const session = await gateway.start({ command, capture: "merged", intent: description }, startOptions(context));
  const info = session.info();
  const refused = refusal(info, { shell_id: info.id });
  if (refused) return refused;
  return {
    structured: {
      shell_id: info.id,
      status: info.status,
      exit_code: exitStatus(info),
      output: "",
      timed_out: false,
      left_out_bytes: 0,
      duration_ms: Math.round(info.durationMs),
      warnings: info.warnings,
    },
    text: startedText(info.id, command),
  };
}
