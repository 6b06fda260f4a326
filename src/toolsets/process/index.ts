import type { z } from "zod";
import { SallyportError } from "../../core/error.ts";
import type { RunRequest } from "../../core/request.ts";
import type { ResourceUsage, RunResult as Result, Status } from "../../core/result.ts";
import type { SessionInfo } from "../../core/session.ts";
import { alreadyExited } from "../../session/errors.ts";
import type { Session } from "../../session/session.ts";
import { signalName, signalNumber } from "../../session/signals.ts";
import { commandLine } from "../../text/command-line.ts";
import { MODEL_BYTES, SUMMARY_BYTES } from "../../text/output-limits.ts";
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
import { withKillHint } from "../kill-hint.ts";
import { resultLastLines, waitForSession } from "../output.ts";
import { warningsNote, withinBytes } from "../result-text.ts";
import { deadlineMs, isUnstarted, refusal, runOptions, startOptions } from "../run.ts";
import { toolName } from "../tool-names.ts";
import { processLogs } from "./logs.ts";
import {
  DEFAULT_FORCE_AFTER,
  DEFAULT_TIMEOUT,
  KillInput,
  KillResult,
  ListInput,
  ListResult,
  MAX_TIMEOUT,
  MonitorInput,
  MonitorResult,
  RunInput,
  RunResult,
} from "./schema.ts";
import {
  invalidFilter,
  killText,
  monitored,
  monitorText,
  PROCESS_ERRORS,
  PROCESS_WORDS,
  processEntry,
  processesText,
  processResult,
  runText,
  stateOf,
  unstartedFailure,
} from "./text.ts";

type Args = z.output<typeof RunInput>;

const processRun = tool({
  name: "process.run",
  title: "Run a command",
  description: `Run a command in the sandbox. Returns exit_code, the last lines of stdout and stderr, duration, state and resource usage. With args, command is a program that runs directly; without args, command is a shell command line. Prefer args to quoting. Each call starts a new process, so \`cd\` and exported variables do not carry over. By default only the workspace and /tmp are writable; /tmp is private to your commands and kept between them. The default timeout is ${DEFAULT_TIMEOUT} s, the maximum ${MAX_TIMEOUT} s; set a longer one for slow builds and test suites. A timeout is not an error: state is "timed_out", exit_code is null, and the summaries hold the output so far. Child processes still running when a foreground command exits are terminated. With background: true the call returns a process_id immediately and no timeout applies; follow the process with process.monitor and process.logs, and stop it with process.kill. process.logs returns the full output. A foreground command that outlasts the call continues in the background until its timeout: state is "running". If a person's approval is pending, call again with the same arguments to wait for the decision.`,
  input: RunInput,
  output: RunResult,
  text: runText,
  annotations: RUN_ANNOTATIONS,
  meta: { version: "1.1", tags: ["process", "execute", "sandbox"] },
  operation: "run",
  permission: "notify",
  handle: (args, call) => (args.background ? start(args, call) : run(args, call)),
});

async function run(args: Args, { gateway, context }: HandlerCall): Promise<HandlerResult> {
  const timeoutMs = deadlineMs(gateway, args.timeout, { defaultSeconds: DEFAULT_TIMEOUT, maxSeconds: MAX_TIMEOUT });
  const stdin = args.stdin === undefined ? {} : { stdin: { text: args.stdin } };
  const outcome = await gateway.run({ ...requestOf(args), ...stdin, timeoutMs }, runOptions(context, timeoutMs));
  const result = withKillHint(outcome, commandLine(args.command, args.args ?? null), PROCESS_WORDS);
  const usage = result.status === "running" ? gateway.session(result.id).usage().usage : result.resourceUsage;
  const refused = refusal(result, { process_id: result.id, duration_ms: 0 });
  if (refused) return refused;
  const query = {
    lines: args.stdout_lines,
    maxBytes: SUMMARY_BYTES,
    hint: `${toolName("process.logs")} process_id=${result.id}`,
  };
  const summaries = {
    stdout: await resultLastLines(gateway, result, { ...query, stream: "stdout" }),
    stderr: await resultLastLines(gateway, result, { ...query, stream: "stderr" }),
  };
  return { structured: processResult(result, summaries, usage, timeoutMs), failure: result.error, complete: true };
}

async function start(args: Args, { gateway, context }: HandlerCall): Promise<HandlerResult> {
  const session = await gateway.start(requestOf(args), startOptions(context));
  const info = session.info();
  const refused = refusal(info, { process_id: info.id });
  return refused ?? { structured: started(info, session.usage().usage) };
}

/** Returns the result of a background start. The summaries are empty: the output is read with process.logs. */
function started({ id, status, exitCode, durationMs, warnings, hints }: SessionInfo, usage: ResourceUsage | null) {
  const nothing = { stdout: "", stderr: "", output: "", truncated: { stdout: 0, stderr: 0 }, leftover: 0 };
  const told = { id, status, exitCode, durationMs, warnings, hints, error: null, ...nothing } as unknown as Result;
  const { note: _, ...structured } = processResult(told, { stdout: "", stderr: "" }, usage);
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

const processMonitor = tool({
  name: "process.monitor",
  title: "Check a process",
  description:
    "Return the state (running, completed, killed or timed_out), exit code, elapsed time and resource usage of a process. Read its output with process.logs.",
  input: MonitorInput,
  output: MonitorResult,
  text: monitorText,
  annotations: READ_ANNOTATIONS,
  meta: { version: "1.0", tags: ["process", "monitor", "status"] },
  operation: "read",
  async handle({ process_id, wait }, call) {
    const { gateway } = call;
    const session = await gateway.find(process_id);
    await gateway.permit("read", session);
    await waitForSession(call, session, { seconds: wait });
    const info = session.info();
    if (!isUnstarted(info)) return { structured: monitored(info, session.usage().usage), cause: info.error };
    return { structured: { process_id: info.id }, failure: unstartedFailure(info) };
  },
});

/** The statuses of each state. Commands that never started are not listed as processes. */
const STATUSES: Record<string, Status[]> = {
  running: ["running"],
  completed: ["completed"],
  killed: ["killed", "lost"],
  timed_out: ["timed_out"],
  all: ["running", "completed", "killed", "lost", "timed_out"],
};

const processList = tool({
  name: "process.list",
  title: "List processes",
  description:
    "List this agent's processes, most recent first, with state, exit code, times and resource usage. total counts all processes that match state_filter.",
  input: ListInput,
  output: ListResult,
  text: processesText,
  annotations: READ_ANNOTATIONS,
  meta: { version: "1.0", tags: ["process", "list", "status"] },
  operation: "list",
  argumentFailures: { state_filter: invalidFilter },
  async handle({ state_filter, limit }, { gateway }) {
    const status = STATUSES[state_filter] ?? [];
    const { sessions, total, warnings } = await gateway.sessions({ status, limit });
    const entries = sessions.map((info) => {
      const ownAndLive = info.gateway === null && info.status === "running";
      return processEntry(info, ownAndLive ? gateway.session(info.id).usage().usage : info.resourceUsage);
    });
    return { structured: { processes: withinBytes(entries, MODEL_BYTES), total, ...warningsNote(warnings) } };
  },
});

/** How long to wait for a signal to take effect before the state is reported. */
const SETTLE_MS = 1000;

const processKill = tool({
  name: "process.kill",
  title: "Kill a process",
  description: `Send a signal to a process and all its child processes. SIGTERM (the default) is followed by SIGKILL after force_after seconds (default ${DEFAULT_FORCE_AFTER}, 0 disables it). killed is false if the process had exited before the signal arrived or is still running.`,
  input: KillInput,
  output: KillResult,
  text: killText,
  annotations: KILL_ANNOTATIONS,
  meta: { version: "1.0", tags: ["process", "kill", "terminate"] },
  operation: "kill",
  permission: "notify",
  async handle({ process_id, signal, force_after: seconds }, { gateway }) {
    const session = await gateway.find(process_id);
    const name = signalName(signalNumber(signal)) ?? signal;
    if (hasEnded(session)) return exitedBefore(session);
    const graceMs = name === "SIGTERM" && seconds > 0 ? seconds * 1000 : null;
    const sent = await send(session, name, graceMs);
    const info = await session.wait({ timeoutMs: SETTLE_MS });
    // Report SIGKILL when SIGTERM was not enough.
    const last = info.signal === "SIGKILL" ? "SIGKILL" : name;
    const killed = sent && info.status !== "running" && !info.lingering;
    return { structured: { killed, signal_sent: last, process_id: info.id, state: stateOf(info.status) } };
  },
});

function hasEnded(session: Session): boolean {
  const { status, lingering } = session.info();
  return status !== "running" && !lingering;
}

/** Sends a signal. Returns false when the process exited before the signal arrived. */
async function send(session: Session, signal: string, graceMs: number | null): Promise<boolean> {
  try {
    await session.kill({ signal, graceMs });
    return true;
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error;
    if (error.type === "AlreadyExited") return false;
    if (error.type === "KeeperUnavailable") throw new SallyportError("KillFailed", error.message, error.recovery);
    throw error;
  }
}

function exitedBefore(session: Session): HandlerResult {
  const { id, status } = session.info();
  return {
    structured: { killed: false, process_id: id, state: stateOf(status) ?? "completed" },
    failure: alreadyExited(session.id).toJSON(),
  };
}

/** The `process` toolset: one result shape, named errors with named recovery actions, permission tiers. */
export const PROCESS: Toolset = {
  name: "process",
  tools: [processRun, processMonitor, processKill, processList, processLogs],
  mapFailure: failureMapper(PROCESS_ERRORS, PROCESS_WORDS),
};
