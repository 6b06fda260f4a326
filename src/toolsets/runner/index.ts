import { createHash } from "node:crypto";
import type { z } from "zod";
import type { RunRequest } from "../../core/request.ts";
import { splitWords } from "../../shell/quote.ts";
import { RUNNER_STREAM_BYTES } from "../../text/output-limits.ts";
import {
  type HandlerCall,
  KILL_ANNOTATIONS,
  READ_ANNOTATIONS,
  RUN_ANNOTATIONS,
  type Toolset,
  tool,
} from "../define.ts";
import { failureMapper } from "../failures.ts";
import { withKillHint } from "../kill-hint.ts";
import { resultOutput } from "../output.ts";
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
import {
  blockReason,
  factsText,
  joinedNote,
  NO_CLOSING_QUOTE,
  NO_COMMAND,
  RUNNER_WORDS,
  runnerResult,
  runText,
  stillRunning,
  unknownPid,
  withShellHint,
} from "./text.ts";

const run = tool({
  name: "run",
  title: "Run a command",
  description: `Run a command and wait until it exits. Returns exit_code, stdout, stderr (each up to 32 KiB; the middle of longer output is omitted) and timing. By default the command is split into arguments by the rules of POSIX shlex and runs without a shell; set shell: true for pipes, redirections, && and globs. stdin is empty. Each call starts a new process, so \`cd\` and exported variables do not carry over. By default only the workspace and /tmp are writable; /tmp is private to your commands and kept between them. A command that exceeds the timeout (default ${DEFAULT_TIMEOUT} s, maximum ${MAX_TIMEOUT} s) is terminated with its child processes: timed_out is true, exit_code is -1, and the output so far is kept. Child processes still running when the command exits are terminated. Use run_background for servers, watchers and longer commands. Check exit_code, then stderr. If blocked is true, report block_reason; do not rephrase the command. If the command outlasts the call, the note says that it is still running, with a pid for kill_process: call \`run\` again with the same arguments to wait for it and get its result. If a person's approval is pending, call again with the same arguments to wait for the decision.`,
  input: RunInput,
  output: RunResult,
  text: runText,
  annotations: RUN_ANNOTATIONS,
  operation: "run",
  failureFields: (args, error) => unusable(commandOf(args), error),
  async handle(args, { gateway, context }) {
    const asked = program(args);
    if ("error" in asked) return { structured: unusable(args.command, asked.error), failure: asked.error };
    const timeoutMs = deadlineMs(gateway, args.timeout, { defaultSeconds: DEFAULT_TIMEOUT, maxSeconds: MAX_TIMEOUT });
    const { cwd, env, intent } = args;
    const request: RunRequest = { ...asked, timeoutMs, intent, ...(cwd ? { cwd } : {}), ...(env ? { env } : {}) };
    const options = runOptions(context, timeoutMs);
    const { result: outcome, joined } = await gateway.runOrJoin(callKey(request), request, options);
    const result = withShellHint(withKillHint(outcome, args.command, RUNNER_WORDS), asked.args ?? []);
    const query = { maxBytes: RUNNER_STREAM_BYTES, hint: "a narrower command, such as head, tail or grep" };
    const { text: stdout } = await resultOutput(gateway, result, { ...query, stream: "stdout" });
    const { text: stderr } = await resultOutput(gateway, result, { ...query, stream: "stderr" });
    const structured = runnerResult(args.command, result, { stdout, stderr }, timeoutMs);
    if (result.status === "running") Object.assign(structured, runningOn(gateway, result));
    else if (joined) structured.note = joinedNote(gateway.session(result.id).info().startedAt, structured.note);
    return { structured, failure: result.error };
  },
});

/** Identifies calls with the same arguments. The intent is free text, which a model may word differently. */
function callKey({ intent: _, env = {}, ...request }: RunRequest): string {
  const variables = Object.entries(env).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return createHash("sha256")
    .update(JSON.stringify(["runner", request, variables]))
    .digest("hex");
}

/** Returns the command to run: shell text, or a program with its arguments. */
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

/** Returns the result for a call that cannot be executed, with the fields of other commands that did not start. */
function unusable(command: string, error: ToolFailure): Record<string, unknown> {
  const nothing = { duration_ms: 0, timed_out: false, blocked: false, block_reason: null };
  const streams = { stdout: "", stderr: error.message };
  return { success: false, command: repeatedCommand(command), exit_code: -1, ...streams, ...nothing };
}

/** Returns the command of arguments that may be invalid. */
function commandOf(args: unknown): string {
  const { command } = (args ?? {}) as { command?: unknown };
  return typeof command === "string" ? command : "";
}

function runningOn(gateway: HandlerCall["gateway"], { id, durationMs }: { id: string; durationMs: number }) {
  const { pid } = gateway.session(id).info();
  return { process_id: id, pid, note: stillRunning(pid, durationMs) };
}

const runBackground = tool({
  name: "run_background",
  title: "Start a background process",
  description:
    "Start a long-running process, such as a server or watcher, through the shell and return its pid immediately. It has no timeout and keeps running until it exits or kill_process terminates it. Set log_file to read its output later, for example with `run` and `tail -n 50 FILE`. Record the pid for kill_process. Use `run` instead when you need the output now.",
  input: RunBackgroundInput,
  output: RunBackgroundResult,
  text: factsText,
  annotations: RUN_ANNOTATIONS,
  operation: "run",
  failureFields: (args) => ({ success: false, pid: null, command: repeatedCommand(commandOf(args)) }),
  async handle({ command, intent, cwd, log_file: logFile }, { gateway, context }) {
    // One stream keeps the order of what was written to stdout and stderr, as the contract requires for log_file.
    const request: RunRequest = {
      command,
      intent,
      capture: "merged",
      ...(cwd ? { cwd } : {}),
      ...(logFile ? { logFile } : {}),
    };
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
        structured: {
          success: true,
          pid: info.pid,
          command: repeatedCommand(command),
          process_id: info.id,
          ...(info.warnings.length > 0 ? { warnings: info.warnings } : {}),
        },
      }
    );
  },
});

const killProcess = tool({
  name: "kill_process",
  title: "Kill a process",
  description: `Terminate a process that run_background started, with all its child processes: SIGTERM, then SIGKILL after graceful_timeout seconds (default ${DEFAULT_GRACE}). Succeeds if the process has already exited. Rejects the pid of a process that these tools did not start.`,
  input: KillProcessInput,
  output: KillProcessResult,
  text: factsText,
  annotations: KILL_ANNOTATIONS,
  operation: "kill",
  failureFields: () => ({ success: false }),
  async handle({ pid, intent, graceful_timeout: seconds }, { gateway }) {
    const session = gateway.sessionWithPid(pid);
    if (!session) {
      const why = "The process was not started for this agent.";
      gateway.auditRefusal({ operation: "kill", session: null, target: `pid ${pid}`, why, detail: { pid, intent } });
      return { structured: { success: false }, failure: unknownPid(pid) };
    }
    await endSession(session, { graceMs: seconds * 1000, intent });
    // The agent has ended the command itself, so the same call runs it again.
    gateway.forgetCall(session.id);
    const { status, lingering } = session.info();
    return { structured: { success: status !== "running" && !lingering } };
  },
});

const isBlocked = tool({
  name: "is_blocked",
  title: "Check a command",
  description:
    "Check whether the safety rules block a command, without running it. The command is checked as shell text. If it is blocked, report block_reason and propose a safe alternative; do not rephrase the command to bypass the rule.",
  input: IsBlockedInput,
  output: IsBlockedResult,
  text: factsText,
  annotations: READ_ANNOTATIONS,
  operation: "list",
  async handle({ command }, { gateway }) {
    const reason = blockReason(gateway.check(command));
    return { structured: { blocked: reason !== null, block_reason: reason } };
  },
});

/** The `runner` toolset: commands with exit code, separate streams and a stated intent. */
export const RUNNER: Toolset = {
  name: "runner",
  completeFailures: true,
  tools: [run, runBackground, killProcess, isBlocked],
  mapFailure: failureMapper({}, RUNNER_WORDS),
};
