import type { z } from "zod";
import { BASH_BACKGROUND_BYTES, BASH_OUTPUT_BYTES } from "../../core/output-limits.ts";
import { forModel } from "../../text/model-output.ts";
import { matchingLines } from "../../text/regex.ts";
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
import { exitStatus } from "../result-text.ts";
import { clampedDeadlineMs, refusal, runOptions, startOptions } from "../run.ts";
import { endSession, markRead, readUnread } from "../sessions.ts";
import {
  BashInput,
  BashOutputInput,
  BashOutputResult,
  BashResult,
  DEFAULT_TIMEOUT,
  KillShellInput,
  KillShellResult,
  MAX_TIMEOUT,
  READER,
} from "./schema.ts";
import { bashOutput, bashText, killedText, startedText, unreadText } from "./text.ts";

type Args = z.output<typeof BashInput>;

const Bash = tool({
  name: "Bash",
  title: "Run a command",
  description: `Run a command with bash in the workspace root and get its output: stdout and stderr merged in order, at most 100 KiB (the middle is left out, and it says how much). Input is closed. A line \`exit: N\` follows when it failed. After the timeout the command and all it started are killed, what it wrote is kept, and \`bash: timed out after Ns\` and \`exit: 124\` follow: give a longer timeout, or run_in_background for servers, watchers and anything longer than ${MAX_TIMEOUT} s. That returns a shell_id for BashOutput and KillShell. Processes left behind by a foreground command are ended. Some commands need a person's approval: if told so, call again with the same arguments to wait for it. What is blocked stays blocked: report it instead of rephrasing it.`,
  input: BashInput,
  output: BashResult,
  annotations: RUN_ANNOTATIONS,
  operation: "run",
  handle: (args, call) => (args.run_in_background ? start(args, call) : run(args, call)),
});

async function run(
  { command, description, timeout }: Args,
  { gateway, root, context }: HandlerCall,
): Promise<HandlerResult> {
  const timeoutMs = clampedDeadlineMs(gateway, timeout, { defaultSeconds: DEFAULT_TIMEOUT, maxSeconds: MAX_TIMEOUT });
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

async function start({ command, description }: Args, { gateway, context }: HandlerCall): Promise<HandlerResult> {
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

const BashOutput = tool({
  name: "BashOutput",
  title: "Read a background command",
  description:
    "What a command started by Bash has written since the last call, its status, and its exit code once it has ended. At most 100 KiB a call; it says how much more waits: call again. Also gives what was left out of a foreground result, by its shell_id.",
  input: BashOutputInput,
  output: BashOutputResult,
  annotations: { ...READ_ANNOTATIONS, idempotentHint: false },
  operation: "read",
  async handle({ shell_id, filter }, { gateway, root }) {
    const session = await gateway.find(shell_id);
    // Before the output: what ends in between is told with the next call, and nothing is missed.
    const info = session.info();
    const unread = await readUnread(root, session, {
      reader: READER,
      page: BASH_OUTPUT_BYTES,
      buffer: BASH_BACKGROUND_BYTES,
      wholeLines: filter !== undefined && info.status === "running",
    });
    const wanted = filter === undefined ? unread.text : matchingLines(unread.text, filter);
    const output = forModel(wanted, { maxBytes: BASH_OUTPUT_BYTES }).text;
    const { left, skipped } = unread;
    const exitCode = exitStatus(info);
    return {
      structured: {
        shell_id: info.id,
        status: info.status,
        exit_code: exitCode,
        output,
        unread_bytes: left,
        skipped_bytes: skipped + unread.droppedBytes,
      },
      text: unreadText({ output, status: info.status, exitCode, left, skipped: skipped + unread.droppedBytes }),
    };
  },
});

const KillShell = tool({
  name: "KillShell",
  title: "End a background command",
  description: "End a background command and everything it started (SIGTERM, then SIGKILL after 5 s).",
  input: KillShellInput,
  output: KillShellResult,
  annotations: KILL_ANNOTATIONS,
  operation: "kill",
  async handle({ shell_id }, { gateway }) {
    const session = await gateway.find(shell_id);
    const killed = await endSession(session);
    const info = session.info();
    return {
      structured: { shell_id: info.id, status: info.status, exit_code: exitStatus(info), killed },
      text: killedText(info.id, info.status, killed),
    };
  },
});

const use_shell_id = { action: "use_shell_id", hint: "Give the shell_id that Bash returned." };

/** The Bash tool with its background shells. */
export const BASH: Toolset = {
  name: "bash",
  tools: [Bash, BashOutput, KillShell],
  mapFailure: failureMapper({
    SessionNotFound: { recovery: [use_shell_id], only: true },
    AmbiguousId: { recovery: [use_shell_id], only: true },
  }),
};
