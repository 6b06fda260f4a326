import type { z } from "zod";
import type { RunResult } from "../../core/result.ts";
import { BASH_OUTPUT_BYTES } from "../../text/output-limits.ts";
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
import { answerUnread, cursorOf, resultOutput, waitForSession } from "../output.ts";
import { exitStatus } from "../result-text.ts";
import { clampedDeadlineMs, refusal, runOptions, startOptions } from "../run.ts";
import { durationField, endSession } from "../sessions.ts";
import { toolName } from "../tool-names.ts";
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
import { BASH_WORDS, bashNote, bashText, killedText, startedText, unreadText } from "./text.ts";

type Args = z.output<typeof BashInput>;

const Bash = tool({
  name: "Bash",
  title: "Run a command",
  description: `Run a command with \`bash -c\` in the workspace root. Returns stdout and stderr merged in order, up to 100 KiB; the middle of longer output is omitted. stdin is closed. The output of a failed command ends with a line \`exit: N\`. Each call starts a new shell, so \`cd\` and exported variables do not carry over. By default only the workspace and /tmp are writable; /tmp is private to your commands and kept between them. On timeout the command and its child processes are killed, and the output so far is returned, followed by the lines \`bash: timed out after Ns\` and \`exit: 124\`. Child processes still running when a foreground command exits are terminated. Use run_in_background for servers, watchers and commands that take longer than ${MAX_TIMEOUT} s; it returns a shell_id for BashOutput and KillShell. A foreground command that outlasts the call continues in the background, and its shell_id is returned. Some commands require a person's approval: if approval is pending, call again with the same arguments to wait for the decision. If a command is blocked, report it; do not rephrase it.`,
  input: BashInput,
  output: BashResult,
  annotations: RUN_ANNOTATIONS,
  operation: "run",
  handle: (args, call) => (args.run_in_background ? start(args, call) : run(args, call)),
});

async function run({ command, description, timeout }: Args, call: HandlerCall): Promise<HandlerResult> {
  const { gateway, context } = call;
  const timeoutMs = clampedDeadlineMs(gateway, timeout, { defaultSeconds: DEFAULT_TIMEOUT, maxSeconds: MAX_TIMEOUT });
  // No grace period: the contract requires SIGKILL at the timeout.
  const request = { command, capture: "merged", timeoutMs, graceMs: 0, intent: description } as const;
  const result = withKillHint(await gateway.run(request, runOptions(context, timeoutMs)), command, BASH_WORDS);
  const refused = refusal(result, { shell_id: result.id });
  if (refused) return refused;
  if (result.status === "running") {
    // BashOutput continues after this page.
    const query = { reader: READER, id: result.id, maxBytes: BASH_OUTPUT_BYTES };
    return answerUnread(
      call,
      gateway.session(result.id).ownOutput(),
      query,
      async ({ text, unread, droppedBytes }) => ({
        structured: bashResult(result, text, unread + droppedBytes),
        text: bashText(result, text, timeoutMs, unread),
      }),
    );
  }
  const hint = `${toolName("BashOutput")} shell_id=${result.id}, which starts at the beginning`;
  const output = await resultOutput(gateway, result, { maxBytes: BASH_OUTPUT_BYTES, hint });
  return {
    structured: bashResult(result, output.text, output.omittedBytes),
    text: bashText(result, output.text, timeoutMs),
  };
}

function bashResult(result: RunResult, output: string, omittedBytes: number): Record<string, unknown> {
  return {
    shell_id: result.id,
    status: result.status,
    exit_code: exitStatus(result),
    output,
    timed_out: result.timedOut,
    left_out_bytes: omittedBytes,
    duration_ms: Math.round(result.durationMs),
    warnings: result.warnings,
    note: bashNote(result),
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
      duration_ms: durationField(info) ?? 0,
      warnings: info.warnings,
      note: null,
    },
    text: startedText(info, command),
  };
}

const BashOutput = tool({
  name: "BashOutput",
  title: "Read a command's output",
  description:
    "Return the output that a command started by Bash has written since the last call, its status, and its exit code once it has exited. Each call returns up to 100 KiB of complete lines and reports how much is left to read; filter searches all of it. Also accepts the shell_id of a foreground command whose output was truncated.",
  input: BashOutputInput,
  output: BashOutputResult,
  annotations: { ...READ_ANNOTATIONS, idempotentHint: false },
  operation: "read",
  async handle({ shell_id, filter, wait }, call) {
    const session = await call.gateway.find(shell_id);
    const query = { reader: READER, id: session.id, maxBytes: BASH_OUTPUT_BYTES, filter };
    await waitForSession(call, session, { seconds: wait, filter, readTo: cursorOf(call, query) });
    const source = await session.reading();
    // The status is read before the output, so a status other than running means that all output has been written.
    const info = session.info();
    return answerUnread(call, source, query, async ({ text: output, unread, droppedBytes }) => {
      const exitCode = exitStatus(info);
      const { warnings } = info;
      const note = bashNote(info);
      return {
        structured: {
          shell_id: info.id,
          status: info.status,
          exit_code: exitCode,
          output,
          unread_bytes: unread,
          skipped_bytes: droppedBytes,
          warnings,
          note,
        },
        text: unreadText({ output, status: info.status, exitCode, unread, note, warnings }),
      };
    });
  },
});

const KillShell = tool({
  name: "KillShell",
  title: "Stop a background command",
  description: "Terminate a background command and all processes it started: SIGTERM, then SIGKILL after 5 s.",
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

const use_shell_id = {
  action: "use_shell_id",
  get hint() {
    return `Pass the shell_id that ${toolName("Bash")} returned.`;
  },
};

/** The `Bash` tool and the tools for its background shells. */
export const BASH: Toolset = {
  name: "bash",
  tools: [Bash, BashOutput, KillShell],
  mapFailure: failureMapper(
    {
      SessionNotFound: { recovery: [use_shell_id], only: true },
      AmbiguousId: { recovery: [use_shell_id], only: true },
    },
    BASH_WORDS,
  ),
};
