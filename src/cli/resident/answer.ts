import { constants } from "node:os";
import { join } from "node:path";
import { ApprovalRequired } from "../../gateway/context.ts";
import type { Gateway } from "../../gateway/gateway.ts";
import type { Session } from "../../session/session.ts";
import { findEntry } from "../catalog.ts";
import type { Command, ForegroundRun, Invocation, Io } from "../command.ts";
import { feed } from "../commands/session/run-foreground.ts";
import { EXIT_FAILED, EXIT_SIGNAL, exitCodeOf } from "../exit-code.ts";
import { reportOutcome } from "../notes.ts";
import { stateFolder } from "../open.ts";
import { textOption } from "../options.ts";
import { parseCommand, splitCommand } from "../parse.ts";
import { reportError } from "../report-error.ts";
import { RESIDENT_COMMANDS } from "./commands.ts";
import type { ClientConnection } from "./connection.ts";
import type { ClientRequest } from "./protocol.ts";

/** What the answers need from the resident process. */
export interface Answering {
  state: string;
  /** Returns the gateway for a command of the current caller, or null when the client is to use Node. */
  gateway(options: { agent: string; workspace: string }): Gateway | null;
  /** Writes the ends of sessions that are still queued. */
  flush(): void;
}

/** Answers the command line of a client, or makes the client use Node. Called as the caller of the request. */
export async function answer(client: ClientConnection, request: ClientRequest, resident: Answering): Promise<void> {
  const parsed = await parse(request, client, resident.state);
  if (!parsed) return client.useNode();
  const { command, invocation } = parsed;
  const { io } = invocation;
  const notes = bufferedErrors(io);
  try {
    const run = command.foreground ? command.foreground({ ...invocation, io: notes.io }) : undefined;
    if (run === null) return client.useNode();
    if (run === undefined) {
      // The command prints by itself, so its exit code is all that is missing.
      const code = await command.run(invocation);
      await io.drained();
      return client.done(code, "");
    }
    const agent = textOption(invocation.values, "agent") ?? "default";
    const gateway = resident.gateway({ agent, workspace: run.workspace ?? request.folder });
    if (gateway === null || showsOnTerminal(request, run)) return client.useNode();
    await startForeground(client, run, gateway, resident, { io, notes });
  } catch (error) {
    if (error instanceof ApprovalRequired) return client.useNode();
    const code = reportError(error, notes.io, { json: false, command: command.name });
    client.done(command.failureCode ?? code, notes.text());
  }
}

/** Parses the command line. Returns null for one that this process does not answer, also when it is not valid. */
async function parse(
  request: ClientRequest,
  client: ClientConnection,
  state: string,
): Promise<{ command: Command; invocation: Invocation } | null> {
  try {
    const { values: globals, name, given } = splitCommand(request.argv);
    if (name === null || !RESIDENT_COMMANDS.includes(name)) return null;
    const command = await findEntry(name)?.load();
    if (!command) return null;
    const { values: own, positionals, rest } = parseCommand(command, given);
    const values = { ...globals, ...own };
    if (values.help || values.version || values.fleet !== undefined || stateFolder(values) !== state) return null;
    return { command, invocation: { values, positionals, rest, io: client.io(request) } };
  } catch {
    return null;
  }
}

/** Output on a terminal is filtered, which the client does not do. */
function showsOnTerminal({ isTTY }: ClientRequest, { raw }: ForegroundRun): boolean {
  return (isTTY.stdout || isTTY.stderr) && !raw;
}

/** Starts a foreground command. The client prints its output; this prints what follows it. */
async function startForeground(
  client: ClientConnection,
  { request, shell, finish }: ForegroundRun,
  gateway: Gateway,
  resident: Answering,
  { io, notes }: { io: Io; notes: ReturnType<typeof bufferedErrors> },
): Promise<void> {
  const beforeStart = new AbortController();
  let first: number | null = null;
  client.onSignal = (signal) => {
    first ??= signal;
    beforeStart.abort();
  };
  let session: Session;
  try {
    session = await gateway.startAllowed(request, {
      id: client.id,
      signal: beforeStart.signal,
      shell: shell ?? undefined,
    });
  } catch (error) {
    if (first === null) throw error;
    return client.done(EXIT_SIGNAL + first, "");
  }
  const { graceMs } = request;
  const capture = session.info().capture;
  client.started(join(resident.state, "sessions", session.id), capture === "merged");
  // A client that is killed leaves its command running, like any other process that has started one.
  const kill = (options: { signal?: string | undefined; graceMs?: number | undefined }) =>
    void session.kill(options).catch(() => {});
  forwardSignals(client, first, (options) => kill({ graceMs, ...options }));
  client.onStop = () => kill({ graceMs });
  let inputFailure: number | null = null;
  const stopFeeding =
    request.stdin === "open"
      ? feed(io.stdin, session, (error) => {
          inputFailure = reportError(error, notes.io, { json: false });
          kill({ graceMs });
        })
      : () => {};
  try {
    const info = await session.wait();
    reportOutcome(info, notes.io);
    finish?.();
    resident.flush();
    client.done(inputFailure ?? exitCodeOf(info), notes.text());
  } catch (error) {
    reportError(error, notes.io, { json: false });
    client.done(EXIT_FAILED, notes.text());
  } finally {
    stopFeeding();
  }
}

/** Passes the first signal on to the process tree. The second kills it. The client ends itself at the third. */
function forwardSignals(
  client: ClientConnection,
  before: number | null,
  kill: (options: { signal?: string; graceMs?: number }) => void,
): void {
  const names = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name]));
  let received = 0;
  const pass = (signal: number) => {
    received++;
    if (received === 1) kill({ signal: names.get(signal) ?? "SIGTERM" });
    else if (received === 2) kill({ signal: "SIGKILL" });
  };
  client.onSignal = pass;
  if (before !== null) pass(before);
}

/** Collects what is printed to stderr, which the client prints after the command's output. */
function bufferedErrors(io: Io): { io: Io; text(): string } {
  const parts: string[] = [];
  const collecting: Io = {
    out: io.out,
    err: (text) => {
      parts.push(typeof text === "string" ? text : Buffer.from(text).toString());
    },
    drained: io.drained,
    get stdin() {
      return io.stdin;
    },
    isTTY: io.isTTY,
    isDiscarded: io.isDiscarded,
    columns: io.columns,
    color: io.color,
  };
  return { io: collecting, text: () => parts.join("") };
}
