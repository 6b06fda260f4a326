import { constants } from "node:os";
import { text } from "node:stream/consumers";
import { callerEnv, callerPath } from "../../../core/caller.ts";
import type { RunRequest } from "../../../core/request.ts";
import type { Gateway } from "../../../gateway/gateway.ts";
import { type Command, type Invocation, type Io, UsageError } from "../../command.ts";
import { EXIT_SIGNAL, exitCodeOf } from "../../exit-code.ts";
import { printJson } from "../../io.ts";
import { reportOutcome } from "../../notes.ts";
import { tellWaiting, withGateway } from "../../open.ts";
import {
  amountOption,
  choiceOption,
  countOption,
  durationOption,
  SANDBOX_HELP,
  SANDBOX_OPTIONS,
  sandboxRequest,
  sizeOption,
  terminalSizeOption,
  textOption,
  textOptions,
} from "../../options.ts";
import { type Continuation, continuedSession, takeContinuation } from "../../resident/continuation.ts";
import { promptUnlessAttached } from "../../terminal/approval-prompt.ts";
import { localTerminal } from "../../terminal/tty.ts";
import { runOnTerminal, runStreamed } from "./run-foreground.ts";

export const run: Command = {
  name: "run",
  summary: "Run a command in a sandbox",
  usage: "sallyport run [OPTIONS] [--] PROGRAM [ARG...]\n       sallyport run [OPTIONS] -c TEXT",
  description: `
    Runs PROGRAM directly, without a shell, or TEXT with bash. The command is checked against policy and waits for
    approval where policy requires it. Its output is streamed as it is written, and \`run\` exits with its exit code.
    On a terminal, escape sequences and control characters in the output are shown instead of interpreted, except for
    colors; with -t, those that draw on the screen are passed on.

    The workspace is the current directory. Any processes that a foreground command leaves running are stopped when it
    ends. The first Ctrl-C interrupts the command and its child processes, and kills them after the grace period; the
    second kills them immediately.`,
  takesCommandLine: true,
  options: {
    command: { type: "string", short: "c" },
    detach: { type: "boolean", short: "d" },
    "no-wait": { type: "boolean" },
    interactive: { type: "boolean", short: "i" },
    tty: { type: "boolean", short: "t" },
    env: { type: "string", short: "e", multiple: true },
    cwd: { type: "string" },
    name: { type: "string" },
    timeout: { type: "string" },
    grace: { type: "string" },
    size: { type: "string" },
    merge: { type: "boolean" },
    raw: { type: "boolean" },
    "log-file": { type: "string" },
    "disk-cap": { type: "string" },
    ...SANDBOX_OPTIONS,
    memory: { type: "string" },
    cpu: { type: "string" },
    processes: { type: "string" },
    host: { type: "string" },
    label: { type: "string", multiple: true },
    retry: { type: "string" },
  },
  help: {
    command: "TEXT: Run TEXT with bash",
    detach: "Run in the background and print the session ID",
    "no-wait": "If the command requires approval, exit with 126 at once instead of waiting for the decision",
    interactive: "Connect stdin to the command; with -d, keep its stdin open for later input",
    tty: "Allocate a terminal; with -i, attach to it (C-p C-q detaches)",
    env: "NAME=VALUE: Set an environment variable; NAME alone passes on its current value; repeatable",
    cwd: "DIR: Working directory within the workspace (default: the current directory)",
    name: "NAME: Session name (default: a random two-word name)",
    timeout: "DUR: Stop the command after this time, for example 90s, 5m or 1h30m (default: no timeout)",
    grace: "DUR: Time between SIGTERM and SIGKILL when the command is stopped (default: 5s)",
    size: "COLSxROWS: Terminal size (default: the size of this terminal, or 120x30)",
    merge: "Capture stdout and stderr as one stream, in the exact order they were written",
    raw: "Print escape sequences and control characters unchanged on a terminal",
    "log-file": "FILE: Also write the output of both streams to FILE",
    "disk-cap": "SIZE: Maximum log size of each stream, 0 for no limit (default: 64M)",
    host: "NAME: Run on this host",
    label: "KEY=VALUE: Run on a host with this label; repeatable",
    retry: "idempotent: Run the command again on another host if its host is lost",
    memory: "SIZE: Memory limit of the process tree (default: as configured)",
    cpu: "N: CPU limit of the process tree in cores, for example 0.5 (default: as configured)",
    processes: "N: Maximum number of processes and threads (default: as configured)",
    ...SANDBOX_HELP,
    json: "Print the result as JSON when the command has ended, instead of live output",
  },
  groups: {
    "Output options": ["merge", "raw", "log-file", "disk-cap", "json"],
    "Sandbox options": ["sandbox", "network", "writable"],
    "Resource limits": ["memory", "cpu", "processes"],
    "Fleet options": ["host", "label", "retry"],
  },
  choices: { sandbox: ["off", "read-only", "workspace-write", "isolated"], network: ["on", "off"] },
  sections: {
    "Exit status": [
      ["124", "The command exceeded its timeout"],
      ["125", "Sallyport failed, the command line is invalid, or output was dropped before it was printed"],
      ["126", "The command is blocked, denied, pending approval, or not executable"],
      ["127", "The command was not found"],
      ["128+N", "The command was ended by signal N"],
      ["other", "The exit code of the command"],
    ],
  },
  examples: [
    ["Run a program", "sallyport run -- ls -l"],
    ["Run shell text", "sallyport run -c 'make test 2>&1 | tail -20'"],
    ["Run tests with a timeout and an environment variable", "sallyport run --timeout 10m -e CI=1 -- npm test"],
    [
      "Start a server in the background and follow its log",
      "sallyport run -d --name web -- npm run dev && sallyport logs -f web",
    ],
    ["Run an editor on this terminal", "sallyport run -it -- vim notes.txt"],
    ["Pass stdin to the command", "tar c . | sallyport run -i -- sha256sum"],
    ["Run without write access and without network", "sallyport run --sandbox read-only --network off -- ./audit.sh"],
    ["Limit memory and CPU", "sallyport run --memory 512M --cpu 1.5 -- make -j8"],
  ],
  planned: (invocation) => {
    const { values } = invocation;
    if (values.json || attaches(invocation)) return null;
    const detached = values.detach === true;
    const request = runRequest(invocation);
    if (!detached) return { request, raw: values.raw === true };
    return { request, raw: true, detached, approvalTimeoutMs: 0 };
  },
  run: (invocation) => {
    const { values, io } = invocation;
    const continuation = takeContinuation();
    const request = runRequest(invocation);
    const json = values.json === true;
    if (values.detach) {
      return withGateway(invocation, (gateway) => runDetached(gateway, request, { json, io, continuation }), {});
    }
    const run = json ? runToJson : attaches(invocation) ? runOnTerminal : runStreamed;
    return withGateway(
      invocation,
      (gateway) => run(gateway, request, io, values.raw === true, { continuation }),
      // On a terminal the user is prompted. Otherwise a note says that a person must decide, and where.
      values["no-wait"]
        ? { approve: async () => ({ decision: "later" }) }
        : io.isTTY.stdin && io.isTTY.stderr && !values.detach
          ? { approve: (approval, signal) => promptUnlessAttached(approval, io, signal) }
          : { onEvent: tellWaiting(io) },
    );
  },
};

/** With -it on a terminal, that terminal is attached to the command. */
function attaches({ values, io }: Invocation): boolean {
  const { tty, interactive, json, detach } = values;
  return tty === true && interactive === true && json !== true && detach !== true && localTerminal(io) !== null;
}

async function runDetached(
  gateway: Gateway,
  request: RunRequest,
  { json, io, continuation }: { json: boolean; io: Io; continuation: Continuation | null },
): Promise<number> {
  const begun = continuation && continuedSession(gateway, continuation);
  // A background command does not wait for approval: it fails, and runs when it is started again after the approval.
  const session = begun ?? (await gateway.start(request, { approvalTimeoutMs: 0 }));
  const info = session.info();
  if (json) printJson(info, io);
  else io.out(`${session.id}\n`);
  if (info.error === null) return 0;
  reportOutcome(info, io);
  return exitCodeOf(info);
}

async function runToJson(gateway: Gateway, request: RunRequest, io: Io): Promise<number> {
  const interrupted = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => interrupted.abort(signal));
  const stdin = request.stdin === "open" ? { text: await text(io.stdin) } : undefined;
  const { signal } = interrupted;
  try {
    const result = await gateway.run({ ...request, ...(stdin ? { stdin } : {}) }, { signal });
    printJson(result, io);
    return exitCodeOf(result);
  } catch (error) {
    // Interrupted before the command started, for example while it was waiting for approval.
    if (signal.aborted) return EXIT_SIGNAL + constants.signals[signal.reason as NodeJS.Signals];
    throw error;
  }
}

/** Converts the options of `run` to a request. Unlike in the library, there is no timeout by default. */
function runRequest({ values, rest, io }: Invocation): RunRequest {
  const cwd = textOption(values, "cwd");
  const logFile = textOption(values, "log-file");
  const variables = textOptions(values, "env");
  return {
    ...commandOf(textOption(values, "command"), rest ?? []),
    ...sandboxRequest({ values }),
    timeoutMs: durationOption(values, "timeout") ?? 0,
    ...defined({
      graceMs: durationOption(values, "grace"),
      diskCap: sizeOption(values, "disk-cap"),
      limits: limitsOf(values),
      name: textOption(values, "name"),
      cwd: cwd && callerPath(cwd),
      logFile: logFile && callerPath(logFile),
      env: variables.length > 0 ? Object.fromEntries(variables.map(variable)) : undefined,
      capture: values.merge ? ("merged" as const) : undefined,
      stdin: values.interactive ? ("open" as const) : undefined,
      pty: values.tty ? true : undefined,
      host: textOption(values, "host"),
      labels: labelsOf(textOptions(values, "label")),
      retry: choiceOption(values, "retry", ["idempotent"] as const),
      size: values.tty ? (terminalSizeOption(values, "size") ?? localTerminal(io)?.size()) : undefined,
    }),
  };
}

function labelsOf(given: string[]): RunRequest["labels"] {
  if (given.length === 0) return undefined;
  return Object.fromEntries(
    given.map((text) => {
      const [, key, value] = /^([^=]+)=(.+)$/.exec(text) ?? [];
      if (!key || !value) throw new UsageError(`\`--label\` must be KEY=VALUE; received \`${text}\``);
      return [key, value];
    }),
  );
}

function limitsOf(values: Invocation["values"]): RunRequest["limits"] {
  const limits = defined({
    memoryBytes: sizeOption(values, "memory"),
    cpu: amountOption(values, "cpu"),
    processes: countOption(values, "processes"),
  });
  return Object.keys(limits).length > 0 ? limits : undefined;
}

function commandOf(text: string | undefined, argv: string[]): Pick<RunRequest, "command" | "args"> {
  const [program, ...args] = argv;
  if (text !== undefined && program !== undefined) {
    throw new UsageError(`unexpected argument \`${program}\` after \`-c TEXT\`; quote the whole text`);
  }
  if (text?.trim() === "") throw new UsageError("`-c` must not be empty");
  if (text !== undefined) return { command: text };
  if (program === undefined) throw new UsageError("no command given; use `-- PROGRAM [ARG...]` or `-c TEXT`");
  return { command: program, args };
}

/** Parses `NAME=VALUE`, or `NAME` for its value in this process, like `docker run -e`. */
function variable(text: string): [string, string] {
  const at = text.indexOf("=");
  const name = at < 0 ? text : text.slice(0, at);
  if (name === "") throw new UsageError(`\`--env\` must be NAME=VALUE; received \`${text}\``);
  const value = at < 0 ? callerEnv()[name] : text.slice(at + 1);
  if (value === undefined) throw new UsageError(`\`--env ${text}\`: variable \`${text}\` is not set`);
  return [name, value];
}

function defined<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}
