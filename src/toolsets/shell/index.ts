import type { z } from "zod";
import type { RunRequest } from "../../core/request.ts";
import type { Gateway } from "../../gateway/gateway.ts";
import { AGGREGATED_BYTES, MODEL_BYTES } from "../../text/output-limits.ts";
import { type HandlerCall, type HandlerResult, RUN_ANNOTATIONS, type Toolset, tool } from "../define.ts";
import { failureMapper } from "../failures.ts";
import { withKillHint } from "../kill-hint.ts";
import { resultOutput } from "../output.ts";
import { deadlineMs, refusal, runOptions, startOptions } from "../run.ts";
import { toolName } from "../tool-names.ts";
import { answerNewOutput, processTool } from "./process.ts";
import { DEFAULT_TIMEOUT, DEFAULT_YIELD_MS, ExecInput, ExecResult, GRACE_MS } from "./schema.ts";
import { execFields, execNote, execText, SHELL_WORDS, sessionFields, startedText } from "./text.ts";

type Args = z.output<typeof ExecInput>;

const exec = tool({
  name: "exec",
  title: "Run a command",
  description: `Run a shell command in the workspace root or in workdir. Each call starts a new shell, so \`cd\` and exported variables do not carry over. By default only the workspace and /tmp are writable; /tmp is private to your commands and kept between them. The call waits up to yieldMs (default ${DEFAULT_YIELD_MS / 1000} s); if the command is still running after that, it continues in the background, and its session_id is returned for the \`process\` tool. background: true returns immediately. stdin is empty unless background is true or the command runs in a terminal. A command that exceeds the timeout (default ${DEFAULT_TIMEOUT} s, 0 for none) is terminated with its child processes: timed_out is true, and the output so far is kept. Child processes still running when a foreground command exits are terminated. With pty: "auto", programs that need a terminal run in one; interact with them through \`process\` (send-keys, screen, wait). aggregated holds the output (the middle of long output is omitted; read it with \`process\` action=log), tail holds the end of the output, and warnings lists problems such as a terminal that was not available. If a person's approval is pending, call again with the same arguments to wait for the decision.`,
  input: ExecInput,
  output: ExecResult,
  annotations: RUN_ANNOTATIONS,
  operation: "run",
  handle: (args, call) => (args.background ? start(args, call) : run(args, call)),
});

async function run(args: Args, call: HandlerCall): Promise<HandlerResult> {
  const { gateway, context } = call;
  const request = requestOf(args, gateway);
  const options = { ...runOptions(context, request.timeoutMs ?? 0), yieldMs: args.yieldMs };
  const result = withKillHint(await gateway.run(request, options), args.command, SHELL_WORDS);
  const refused = refusal(result, { session_id: result.id, warnings: result.warnings });
  if (refused) return refused;
  if (result.status === "running") {
    const session = gateway.session(result.id);
    const info = session.info();
    const { pid } = info;
    const note = execNote(result, info, request.timeoutMs);
    // `poll` continues after this output.
    const answer = ({ output, unread }: { output: string; unread: number }) => ({
      structured: execFields(args.command, result, pid, { aggregated: output, note }),
      text: execText(result, output, note, unread),
    });
    return answerNewOutput(call, session.ownOutput(), answer, { avoid: true });
  }
  const hint = `${toolName("process")} action=log session_id=${result.id} offset=0`;
  const aggregated = await resultOutput(gateway, result, { maxBytes: AGGREGATED_BYTES, hint });
  const shown = await resultOutput(gateway, result, { maxBytes: MODEL_BYTES, hint });
  const note = execNote(result, null, request.timeoutMs);
  return {
    structured: execFields(args.command, result, null, { aggregated: aggregated.text, note }),
    text: execText(result, shown.text, note),
  };
}

async function start(args: Args, { gateway, context }: HandlerCall): Promise<HandlerResult> {
  // stdin stays open so that `process` can write to it.
  const session = await gateway.start({ ...requestOf(args, gateway), stdin: "open" }, startOptions(context));
  const info = session.info();
  const refused = refusal(info, { session_id: info.id, warnings: info.warnings });
  return refused ?? { structured: { ...sessionFields(info), aggregated: "", tail: "" }, text: startedText(info) };
}

function requestOf({ command, workdir, env, timeout, pty, security, ask }: Args, gateway: Gateway): RunRequest {
  return {
    command,
    pty,
    capture: "merged",
    timeoutMs: deadlineMs(gateway, timeout, { defaultSeconds: DEFAULT_TIMEOUT }),
    graceMs: GRACE_MS,
    ...(workdir ? { cwd: workdir } : {}),
    ...(env ? { env } : {}),
    ...(security ? { security } : {}),
    ...(ask ? { ask } : {}),
  };
}

/** The `shell` toolset: commands that move to the background automatically, and terminals. */
export const SHELL: Toolset = {
  name: "shell",
  tools: [exec, processTool],
  mapFailure: failureMapper({}, SHELL_WORDS),
};
