import type { z } from "zod";
import type { RunRequest } from "../../core/request.ts";
import type { ResourceUsage, RunResult as Result } from "../../core/result.ts";
import type { SessionInfo } from "../../core/session.ts";
import { RUNS } from "../annotations.ts";
import { deadlineMs } from "../deadline.ts";
import { type Answer, type Call, tool } from "../define.ts";
import { refusal } from "../refusal.ts";
import { runOptions, startOptions } from "../run-options.ts";
import { DEFAULT_TIMEOUT, MOST_TIMEOUT, RunInput, RunResult } from "./schema.ts";
import { processResult } from "./text.ts";

type Args = z.output<typeof RunInput>;

export const processRun = tool({
  name: "process.run",
  title: "Run a command",
  description: `Execute a command in the sandbox; returns exit_code, the last lines of stdout and stderr, duration, state and resource usage. Prefer args over quoting: with args the program is run directly, without them command goes to the shell. Default timeout ${DEFAULT_TIMEOUT} s, at most ${MOST_TIMEOUT} s: pass one for slow test suites and builds. A timeout is no error: state is "timed_out", exit_code null, and the summaries hold what was written; rerun with a higher timeout or background: true. In background it returns a process_id at once and no timeout applies: follow it with process.monitor and process.logs, end it with process.kill. The full output is in process.logs. If a person has to approve it first, call again with the same arguments to wait for it.`,
  input: RunInput,
  output: RunResult,
  annotations: RUNS,
  operation: "run",
  permission: "notify",
  handle: (args, call) => (args.background ? start(args, call) : run(args, call)),
});

async function run(args: Args, { gateway, context }: Call): Promise<Answer> {
  const timeoutMs = deadlineMs(gateway, args.timeout, { byDefault: DEFAULT_TIMEOUT, most: MOST_TIMEOUT });
  const stdin = args.stdin === undefined ? {} : { stdin: { text: args.stdin } };
  const result = await gateway.run({ ...requestOf(args), ...stdin, timeoutMs }, runOptions(context));
  const usage = result.status === "running" ? gateway.session(result.id).usage().usage : result.resourceUsage;
  return answer(result, args.stdout_lines, usage);
}

async function start(args: Args, { gateway, context }: Call): Promise<Answer> {
  const session = await gateway.start(requestOf(args), startOptions(context));
  const info = session.info();
  const refused = refusal(info, { process_id: info.id });
  return refused ?? { structured: started(info, session.usage().usage) };
}

function answer(result: Result, lines: number, usage: ResourceUsage | null): Answer {
  const refused = refusal(result, { process_id: result.id, duration_ms: 0 });
  if (refused) return refused;
  return { structured: processResult(result, lines, usage), failure: result.error, complete: true };
}

/** Nothing is told of its output yet: whoever wants it asks for its logs. */
function started({ id, status, exitCode, durationMs, warnings, hints }: SessionInfo, usage: ResourceUsage | null) {
  const nothing = { stdout: "", stderr: "", output: "", truncated: { stdout: 0, stderr: 0 }, leftover: 0 };
  const told = { id, status, exitCode, durationMs, warnings, hints, error: null, ...nothing } as unknown as Result;
  const { note: _, ...structured } = processResult(told, 0, usage);
  return structured;
}

function requestOf({ command, args, working_directory: cwd, environment: env, ...limited }: Args): RunRequest {
  const { cpu_limit: cpu, memory_limit: memoryBytes } = limited;
  const limits = { ...(cpu === undefined ? {} : { cpu }), ...(memoryBytes === undefined ? {} : { memoryBytes }) };
  return {
    command,
    ...(args ? { args } : {}),
    ...(cwd ? { cwd } : {}),
    ...(env ? { env } : {}),
    ...(Object.keys(limits).length > 0 ? { limits } : {}),
  };
}
