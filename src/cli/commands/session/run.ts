import { constants } from "node:os";
import { text } from "node:stream/consumers";
import type { RunRequest } from "../../../core/request.ts";
import type { Gateway } from "../../../gateway/gateway.ts";
import type { Command, Io } from "../../command.ts";
import { EXIT_SIGNAL, exitCodeOf } from "../../exit-code.ts";
import { runOnTerminal } from "../../foreground/on-terminal.ts";
import { waitingNote } from "../../notes.ts";
import { withGateway } from "../../open.ts";
import { printJson } from "../../print-json.ts";
import { tellOutcome } from "../../report-outcome.ts";
import { runRequest } from "../../run-request.ts";
import { SANDBOX_HELP, SANDBOX_OPTIONS } from "../../sandbox-options.ts";
import { askUnlessTalking } from "../../terminal/ask-unless-talking.ts";
import { ownTerminal } from "../../terminal/tty.ts";
import { runStreamed } from "./run-foreground.ts";

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
    // At our own terminal it is talked with, not only listened to.
    const talks = values.tty === true && values.interactive === true && !json && ownTerminal(io) !== null;
    const run = json ? runToJson : talks ? runOnTerminal : runStreamed;
    return withGateway(
      invocation,
      (gateway) => run(gateway, request, io),
      // Whoever typed the command is asked right there; anybody else is told how to answer.
      io.isTTY.stdin && io.isTTY.stderr && !values.detach
        ? { approve: (approval, over) => askUnlessTalking(approval, io, over) }
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
  tellOutcome(info, io);
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
