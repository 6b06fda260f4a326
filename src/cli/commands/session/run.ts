import { constants } from "node:os";
import { resolve } from "node:path";
import { text } from "node:stream/consumers";
import type { RunRequest } from "../../../core/request.ts";
import type { Gateway } from "../../../gateway/gateway.ts";
import { type Command, type Invocation, type Io, UsageError } from "../../command.ts";
import { EXIT_SIGNAL, exitCodeOf } from "../../exit-code.ts";
import { printJson } from "../../io.ts";
import { reportOutcome, waitingNote } from "../../notes.ts";
import { withGateway } from "../../open.ts";
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
import { promptUnlessAttached } from "../../terminal/approval-prompt.ts";
import { localTerminal } from "../../terminal/tty.ts";
import { runOnTerminal, runStreamed } from "./run-foreground.ts";

export const run: Command = {
  name: "run",
  summary: "Run a command, in the foreground or as a background session",
  usage: "sallyport run [OPTIONS] [--] PROGRAM ARG…\n       sallyport run [OPTIONS] -c TEXT",
  takesCommandLine: true,
  options: {
    command: { type: "string", short: "c" },
    detach: { type: "boolean", short: "d" },
    interactive: { type: "boolean", short: "i" },
    tty: { type: "boolean", short: "t" },
    size: { type: "string" },
    timeout: { type: "string" },
    grace: { type: "string" },
    cwd: { type: "string" },
    env: { type: "string", short: "e", multiple: true },
    name: { type: "string" },
    merge: { type: "boolean" },
    "log-file": { type: "string" },
    "disk-cap": { type: "string" },
    host: { type: "string" },
    label: { type: "string", multiple: true },
    retry: { type: "string" },
    memory: { type: "string" },
    cpu: { type: "string" },
    processes: { type: "string" },
    ...SANDBOX_OPTIONS,
  },
  help: {
    command: "TEXT: run this text with bash",
    detach: "run in the background and print only the session's id",
    interactive: "give the command our stdin; with -d, keep its stdin open for later",
    tty: "run it on a terminal; with -i, on this one: C-p C-q leaves it running",
    size: "COLSxROWS: how large that terminal is [as this one, else 120x30]",
    timeout: "DUR: end it after this long (90, 90s, 250ms, 5m, 1h30m) [no limit]",
    grace: "DUR: time from SIGTERM to SIGKILL when it is ended [5s]",
    cwd: "DIR: run it there, within the workspace [the current folder]",
    env: "K=V: set a variable; K alone passes ours on; repeatable",
    name: "NAME: call the session this [two words are made up]",
    merge: "capture stdout and stderr as one stream, in exact order",
    "log-file": "FILE: also write a plain log of both streams there",
    "disk-cap": "SIZE: keep at most this much of each stream; 0 keeps all [64M]",
    host: "NAME: of a fleet, run it on this host",
    label: "K=V: of a fleet, run it on a host with this label; may be given several times",
    retry: "idempotent: of a fleet, run it again elsewhere where its host is lost",
    memory: "SIZE: end it when it and all it starts use more memory [as configured]",
    cpu: "N: as many processors as it may use, such as 0.5 [as configured]",
    processes: "N: end it when it and all it starts are more processes and threads [as configured]",
    ...SANDBOX_HELP,
    json: "print the result as JSON when it has ended, instead of live output",
  },
  choices: { sandbox: ["off", "read-only", "workspace-write", "isolated"], network: ["on", "off"] },
  examples: [
    "sallyport run -- ls -l",
    "sallyport run -c 'make test 2>&1 | tail -20'",
    "sallyport run --timeout 10m -e CI=1 -- npm test",
    "sallyport run --memory 512M --cpu 1.5 -- make -j8",
    "sallyport run --sandbox read-only --network off -- ./audit.sh",
    "tar c . | sallyport run -i -- sha256sum",
    "sallyport run -it -- vim notes.txt",
    "id=$(sallyport run -d --name web -- npm run dev); sallyport logs -f web",
  ],
  notes: `The exit code is the command's own, 128+n when signal n ended it, 124 when it timed out,
125 when Sallyport failed, 126 when it may not run, 127 when it was not found.`,
  run: (invocation) => {
    const { values, io } = invocation;
    const request = runRequest(invocation);
    const json = values.json === true;
    if (values.detach) return withGateway(invocation, (gateway) => runDetached(gateway, request, json, io));
    // With -it on a terminal, that terminal is attached to the command.
    const attaches = values.tty === true && values.interactive === true && !json && localTerminal(io) !== null;
    const run = json ? runToJson : attaches ? runOnTerminal : runStreamed;
    return withGateway(
      invocation,
      (gateway) => run(gateway, request, io),
      // Whoever typed the command is asked right there; anybody else is told how to answer.
      io.isTTY.stdin && io.isTTY.stderr && !values.detach
        ? { approve: (approval, signal) => promptUnlessAttached(approval, io, signal) }
        : {
            onEvent: (event) => {
              if (event.type === "approval-requested") io.err(`${waitingNote(event.approval)}\n`);
            },
          },
    );
  },
};

async function runDetached(gateway: Gateway, request: RunRequest, json: boolean, io: Io): Promise<number> {
  // Nobody waits for a background command, so it does not wait for a person either: it says so and is asked for again.
  const session = await gateway.start(request, { approvalTimeoutMs: 0 });
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
    // Before there was a command to end, such as while a person was asked.
    if (signal.aborted) return EXIT_SIGNAL + constants.signals[signal.reason as NodeJS.Signals];
    throw error;
  }
}

/** What `run`'s command line asks the gateway for. No deadline unless one was given: the person at the keyboard is it. */
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
      cwd: cwd && resolve(cwd),
      logFile: logFile && resolve(logFile),
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
    throw new UsageError(`\`-c\` takes the whole command as one text; \`${program}\` came after it. Quote the text`);
  }
  if (text?.trim() === "") throw new UsageError("`-c` must be followed by a command; received an empty text");
  if (text !== undefined) return { command: text };
  if (program === undefined) throw new UsageError("what to run? Give `-- PROGRAM ARG…` or `-c TEXT`");
  return { command: program, args };
}

/** `K=V`, or `K` alone for the value it has here, as `docker run -e` and `env` have it. */
function variable(text: string): [string, string] {
  const at = text.indexOf("=");
  const name = at < 0 ? text : text.slice(0, at);
  if (name === "") throw new UsageError(`\`--env\` must be NAME=VALUE; received \`${text}\``);
  const value = at < 0 ? process.env[name] : text.slice(at + 1);
  if (value === undefined) throw new UsageError(`\`--env ${text}\`: no variable of that name is set here`);
  return [name, value];
}

function defined<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}
