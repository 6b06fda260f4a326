import type { z } from "zod";
import type { RunRequest } from "../../core/request.ts";
import { splitWords } from "../../shell/quote.ts";
import {
  type HandlerCall,
  type HandlerResult,
  KILL_ANNOTATIONS,
  READ_ANNOTATIONS,
  RUN_ANNOTATIONS,
  type Toolset,
  tool,
} from "../define.ts";
import { failureMapper } from "../failures.ts";
import { repeatedCommand } from "../result-text.ts";
import { deadlineMs, refusal, runOptions, startOptions } from "../run.ts";
import { endSession } from "../sessions.ts";
import type { ToolFailure } from "../tool.ts";
import {
  DEFAULT_GRACE,
  DEFAULT_TIMEOUT,
  IsBlockedInput,
  IsBlockedResult,
  KillProcessInput,
  KillProcessResult,
  MAX_TIMEOUT,
  RunBackgroundInput,
  RunBackgroundResult,
  RunInput,
  RunResult,
} from "./schema.ts";
import { blockReason, NO_CLOSING_QUOTE, NO_COMMAND, runnerResult, stillRunning, unknownPid } from "./text.ts";

const run = tool({
  name: "run",
  title: "Run a command",
  description: `Run a command and wait for it; returns exit code, stdout, stderr (each at most 32 KiB, the middle left out and counted) and timing. By default the words are split like shlex and run without a shell: set shell: true for pipes, redirections, && or globs. At the timeout (default ${DEFAULT_TIMEOUT} s, at most ${MAX_TIMEOUT} s) it is ended with all it started: timed_out is true, exit_code -1, what it wrote is kept. Use run_background for servers, watchers and whatever takes longer. Check exit_code, then stderr. If blocked is true, report block_reason and do not look for a way round. If an error says that a person has to approve, call again with the same arguments to wait for it.`,
  input: RunInput,
  output: RunResult,
  annotations: RUN_ANNOTATIONS,
  operation: "run",
  failureFields: { success: false, exit_code: -1 },
  async handle(args, { gateway, context }) {
    const asked = program(args);
    if ("error" in asked) return unusable(args.command, asked.error);
    const timeoutMs = deadlineMs(gateway, args.timeout, { defaultSeconds: DEFAULT_TIMEOUT, maxSeconds: MAX_TIMEOUT });
    const { cwd, env, intent } = args;
    const request: RunRequest = { ...asked, timeoutMs, intent, ...(cwd ? { cwd } : {}), ...(env ? { env } : {}) };
    const result = await gateway.run(request, runOptions(context));
    const structured = runnerResult(args.command, result);
    if (result.status === "running") Object.assign(structured, runningOn(gateway, result));
    return { structured, failure: result.error, complete: true };
  },
});

/** What is to run: shell text, or the words of the command as they are. */
function program({
  command,
  shell,
}: z.output<typeof RunInput>): Pick<RunRequest, "command" | "args"> | { error: ToolFailure } {
  if (shell) return { command };
  const words = splitWords(command);
  if (words === null) return { error: NO_CLOSING_QUOTE };
  const [file, ...args] = words;
  return file === undefined ? { error: NO_COMMAND } : { command: file, args };
}

/** As every other command that could not be started: with a complete result. */
function unusable(command: string, error: ToolFailure): HandlerResult {
  const nothing = { stdout: "", duration_ms: 0, timed_out: false, blocked: false, block_reason: null };
  const structured = {
    success: false,
    command: repeatedCommand(command),
    exit_code: -1,
    stderr: error.message,
    ...nothing,
  };
  return { structured, failure: error, complete: true };
}

function runningOn(gateway: HandlerCall["gateway"], { id, durationMs }: { id: string; durationMs: number }) {
  const { pid } = gateway.session(id).info();
  return { process_id: id, pid, note: stillRunning(pid, durationMs) };
}

const runBackground = tool({
  name: "run_background",
  title: "Start a background process",
  description:
    "Start a long-running process (server, watcher) through the shell and return its pid at once; it lives on until it ends or kill_process ends it. Give log_file to read its output later (`run` with `tail -n 50 FILE`). Do not use it when the output is needed now: use run. Record the pid for cleanup.",
  input: RunBackgroundInput,
  output: RunBackgroundResult,
  annotations: RUN_ANNOTATIONS,
  operation: "run",
  failureFields: { success: false, pid: null },
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

const killProcess = tool({
  name: "kill_process",
  title: "End a process",
  description: `End a process that run_background started, with everything it started itself: SIGTERM, then SIGKILL after graceful_timeout seconds (default ${DEFAULT_GRACE}). One that is gone already is a success; a pid that was not started here is refused.`,
  input: KillProcessInput,
  output: KillProcessResult,
  annotations: KILL_ANNOTATIONS,
  operation: "kill",
  failureFields: { success: false },
  async handle({ pid, intent, graceful_timeout: seconds }, { gateway }) {
    const session = gateway.sessionWithPid(pid);
    if (!session) return { structured: { success: false }, failure: unknownPid(pid) };
    await endSession(session, { graceMs: seconds * 1000, intent });
    const { status, lingering } = session.info();
    return { structured: { success: status !== "running" && !lingering } };
  },
});

const isBlocked = tool({
  name: "is_blocked",
  title: "Check a command",
  description:
    "Whether the safety rules would forbid a command, judged as shell text, without running it, and why. If it is blocked, report the reason and propose something safe; do not rephrase it to get past the rules.",
  input: IsBlockedInput,
  output: IsBlockedResult,
  annotations: READ_ANNOTATIONS,
  operation: "list",
  async handle({ command }, { gateway }) {
    const reason = blockReason(gateway.check(command));
    return { structured: { blocked: reason !== null, block_reason: reason } };
  },
});

/** The process runner: commands with exit code, separate streams and a stated intent. */
export const RUNNER: Toolset = {
  name: "runner",
  tools: [run, runBackground, killProcess, isBlocked],
  mapFailure: failureMapper({}, { logFile: "log_file", timeoutMs: "timeout" }),
};
