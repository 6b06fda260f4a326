import type { z } from "zod";
import type { RunRequest } from "../../core/request.ts";
import { EXEC_LOG_FOLDER } from "../../session/retention.ts";
import { MODEL_BYTES } from "../../text/output-limits.ts";
import { type HandlerCall, type HandlerResult, RUN_ANNOTATIONS, type ToolSpec, type Toolset, tool } from "../define.ts";
import { failureMapper } from "../failures.ts";
import { outputSince, settle } from "../input-answer.ts";
import { inputNote } from "../input-note.ts";
import { withKillHint } from "../kill-hint.ts";
import { resultOutput } from "../output.ts";
import { deadlineMs, refusal, runOptions, startOptions } from "../run.ts";
import { toolName } from "../tool-names.ts";
import { ANSWER_WORDS, DEFAULT_TIMEOUT, ExecuteInput, ExecuteResult } from "./schema.ts";
import { processList, processLog, processManager, processPoll } from "./sessions.ts";
import { EXEC_WORDS, executeNote, executeText, exitCodeOf, startedNote } from "./text.ts";

type Args = z.output<typeof ExecuteInput>;
const HOW = `Each call starts a new shell, so \`cd\` and exported variables do not carry over. By default only the workspace and /tmp are writable; /tmp is private to your commands and kept between them. In the foreground stdin is empty and the call waits until the command exits; a command that outlasts the call continues in the background. A command that exceeds the timeout (default ${DEFAULT_TIMEOUT} s) is terminated with its child processes: timed_out is true, and output holds the output so far. Child processes still running when a foreground command exits are terminated. With background: true the call returns a session_id immediately (execute_pty: with the first output); follow the command with process_poll and process_log. The middle of output over 64 KiB is omitted; read it with process_log. log_path is the path of a plain-text log of the output, at most 64 MiB; a line in it marks what was dropped beyond that. Each command requires a person's approval: if approval is pending, call again with the same arguments to wait for the decision.`;

const execute = executeTool({
  name: "execute",
  title: "Run a command",
  description: `Run a shell command in the workspace root or in cwd. ${HOW}`,
  pty: false,
});

const executePty = executeTool({
  name: "execute_pty",
  title: "Run a command in a terminal",
  description: `Run a shell command in a pseudo-terminal (120 x 30), for programs that need one: REPLs, coding agents, interactive installers. Interact with it through process_manager (write, send-keys). ${HOW}`,
  pty: true,
});

function executeTool({ pty, ...names }: Pick<ToolSpec, "name" | "title" | "description"> & { pty: boolean }): ToolSpec {
  return tool({
    ...names,
    input: ExecuteInput,
    output: ExecuteResult,
    text: executeText,
    annotations: RUN_ANNOTATIONS,
    meta: { category: "exec" },
    operation: "run",
    permission: "ask",
    handle: (args, call) => (args.background ? start(args, pty, call) : run(args, pty, call)),
  });
}

async function run(args: Args, pty: boolean, { gateway, root, context }: HandlerCall): Promise<HandlerResult> {
  const timeoutMs = deadlineMs(gateway, args.timeout, { defaultSeconds: DEFAULT_TIMEOUT });
  const options = { ...runOptions(context, timeoutMs), logFolder: EXEC_LOG_FOLDER };
  const outcome = await gateway.run({ ...requestOf(args, pty), timeoutMs }, options);
  const result = withKillHint(outcome, args.command, EXEC_WORDS);
  const refused = refusal(result, { session_id: result.id });
  if (refused) return refused;
  const query = { maxBytes: MODEL_BYTES, hint: `${toolName("process_log")} session_id=${result.id}` };
  const { text: output } = await resultOutput(gateway, result, query);
  const running = result.status === "running";
  const waiting = running ? await inputNote(root, result.id, ANSWER_WORDS, { avoid: true }) : null;
  const structured = {
    session_id: result.id,
    log_path: logPath(gateway, result.id),
    exit_code: exitCodeOf(result),
    output,
    timed_out: result.timedOut,
    status: result.status,
    ...(waiting === null ? {} : { waiting }),
    warnings: result.warnings,
    note: executeNote(result, timeoutMs),
  };
  return { structured };
}

async function start(args: Args, pty: boolean, call: HandlerCall): Promise<HandlerResult> {
  const { gateway, root, context } = call;
  const timeoutMs =
    args.timeout === undefined ? {} : { timeoutMs: deadlineMs(gateway, args.timeout, { defaultSeconds: 0 }) };
  // stdin stays open so that process_manager can write to it.
  const request: RunRequest = { ...requestOf(args, pty), ...timeoutMs, stdin: "open" };
  const session = await gateway.start(request, { ...startOptions(context), logFolder: EXEC_LOG_FOLDER });
  const refused = refusal(session.info(), { session_id: session.id });
  if (refused) return refused;
  // A program on a terminal is started to interact with it, so the result has its prompt.
  if (pty) await settle(call, session);
  const waiting = pty ? await inputNote(root, session.id, ANSWER_WORDS) : null;
  const info = session.info();
  const structured = {
    session_id: info.id,
    log_path: info.logFile,
    exit_code: exitCodeOf(info),
    output: await outputSince(session.ownOutput(), 0, `${toolName("process_log")} session_id=${info.id}`),
    timed_out: false,
    status: info.status,
    ...(waiting === null ? {} : { waiting }),
    warnings: info.warnings,
    note: startedNote(info),
  };
  return { structured };
}

function requestOf({ command, cwd, env }: Args, pty: boolean): RunRequest {
  return { command, capture: "merged", ...(pty ? { pty } : {}), ...(cwd ? { cwd } : {}), ...(env ? { env } : {}) };
}

function logPath(gateway: HandlerCall["gateway"], id: string): string | null {
  return gateway.session(id).info().logFile;
}

/** The `exec` toolset: commands and terminals whose exits are reported through the work queue. */
export const EXEC: Toolset = {
  name: "exec",
  tools: [execute, executePty, processManager, processList, processPoll, processLog],
  mapFailure: failureMapper({}, EXEC_WORDS),
};
