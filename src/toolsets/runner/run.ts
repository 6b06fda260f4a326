import type { z } from "zod";
import type { RunRequest } from "../../core/request.ts";
import { splitWords } from "../../shell/split.ts";
import { RUNS } from "../annotations.ts";
import { deadlineMs } from "../deadline.ts";
import { type Answer, type Call, tool } from "../define.ts";
import { runOptions } from "../run-options.ts";
import { repeatedCommand } from "../texts/command.ts";
import type { ToolFailure } from "../tool.ts";
import { DEFAULT_TIMEOUT, MOST_TIMEOUT, RunInput, RunResult } from "./schema.ts";
import { NO_CLOSING_QUOTE, NO_COMMAND, runnerResult, runsOn } from "./text.ts";

export const run = tool({
  name: "run",
  title: "Run a command",
  description: `Run a command and wait for it; returns exit code, stdout, stderr (each at most 32 KiB, the middle left out and counted) and timing. By default the words are split like shlex and run without a shell: set shell: true for pipes, redirections, && or globs. At the timeout (default ${DEFAULT_TIMEOUT} s, at most ${MOST_TIMEOUT} s) it is ended with all it started: timed_out is true, exit_code -1, what it wrote is kept. Use run_background for servers, watchers and whatever takes longer. Check exit_code, then stderr. If blocked is true, report block_reason and do not look for a way round. If an error says that a person has to approve, call again with the same arguments to wait for it.`,
  input: RunInput,
  output: RunResult,
  annotations: RUNS,
  operation: "run",
  failed: { success: false, exit_code: -1 },
  async handle(args, { gateway, context }) {
    const asked = program(args);
    if ("error" in asked) return unusable(args.command, asked.error);
    const timeoutMs = deadlineMs(gateway, args.timeout, { byDefault: DEFAULT_TIMEOUT, most: MOST_TIMEOUT });
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
function unusable(command: string, error: ToolFailure): Answer {
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

function runningOn(gateway: Call["gateway"], { id, durationMs }: { id: string; durationMs: number }) {
  const { pid } = gateway.session(id).info();
  return { process_id: id, pid, note: runsOn(pid, durationMs) };
}
