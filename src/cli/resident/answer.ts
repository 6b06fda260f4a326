import { constants } from "node:os";
import { join } from "node:path";
import { ApprovalRequired } from "../../gateway/context.ts";
import type { Gateway } from "../../gateway/gateway.ts";
import type { Session } from "../../session/session.ts";
import { findEntry } from "../catalog.ts";
import type { Command, Invocation, Io, PlannedCommand } from "../command.ts";
import { feed, outputMode } from "../commands/session/run-foreground.ts";
import { EXIT_FAILED, EXIT_SIGNAL, exitCodeOf } from "../exit-code.ts";
import { missingNote, reportOutcome } from "../notes.ts";
import { stateFolder } from "../open.ts";
import { textOption } from "../options.ts";
import { parseCommand, splitCommand } from "../parse.ts";
import { reportError } from "../report-error.ts";
import { outputWriter } from "../terminal/output.ts";
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
  let planned: PlannedCommand | null | undefined;
  try {
    planned = command.planned?.({ ...invocation, io: notes.io }, client.id);
    if (planned === null) return client.useNode();
    if (planned === undefined) {
      // The command prints by itself, so its exit code is all that is missing.
      const code = await command.run(invocation);
      await io.drained();
      return client.done(code, "");
    }
    const agent = textOption(invocation.values, "agent") ?? "default";
    const gateway = resident.gateway({ agent, workspace: planned.workspace ?? request.folder });
    if (gateway === null) throw new ApprovalRequired();
    await startPlanned(client, planned, gateway, resident, { io, notes });
  } catch (error) {
    if (error instanceof ApprovalRequired) {
      planned?.release?.();
      return client.useNode();
    }
    const code = reportError(error, notes.io, { json: false, command: command.name });
    client.done(command.failureCode ?? code, notes.text());
  }
}

/** The commands that have been loaded: an import takes a tenth of a millisecond also when its module is loaded. */
const loaded = new Map<string, Command>();

/** Parses the command line. Returns null for one that this process does not answer, also when it is not valid. */
async function parse(
  request: ClientRequest,
  client: ClientConnection,
  state: string,
): Promise<{ command: Command; invocation: Invocation } | null> {
  try {
    const { values: globals, name, given } = splitCommand(request.argv);
    if (name === null || !RESIDENT_COMMANDS.includes(name)) return null;
    const command = loaded.get(name) ?? (await findEntry(name)?.load());
    if (!command) return null;
    loaded.set(name, command);
    const { values: own, positionals, rest } = parseCommand(command, given);
    const values = { ...globals, ...own };
    if (values.help || values.version || values.fleet !== undefined || stateFolder(values) !== state) return null;
    return { command, invocation: { values, positionals, rest, io: client.io(request) } };
  } catch {
    return null;
  }
}

/** Starts a command. The client prints the output of a foreground command; this prints what follows it. */
async function startPlanned(
  client: ClientConnection,
  planned: PlannedCommand,
  gateway: Gateway,
  resident: Answering,
  { io, notes }: { io: Io; notes: ReturnType<typeof bufferedErrors> },
): Promise<void> {
  const { request, shell, detached, approvalTimeoutMs, consented, finish } = planned;
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
      foreground: !detached,
      signal: beforeStart.signal,
      ...(shell ? { shell } : {}),
      ...(approvalTimeoutMs === undefined ? {} : { approvalTimeoutMs }),
      ...consented,
    });
  } catch (error) {
    if (first === null) throw error;
    return client.done(EXIT_SIGNAL + first, "");
  }
  if (detached) return printStarted(client, session, resident, { io, notes });
  const { graceMs } = request;
  const merged = session.info().capture === "merged";
  // A terminal shows control characters instead of interpreting them, and the client does not filter output.
  const inMessages = !planned.raw && (io.isTTY.stdout || io.isTTY.stderr);
  client.started(join(resident.state, "sessions", session.id), { merged, inMessages });
  const kill = (options: { signal?: string | undefined; graceMs?: number | undefined }) =>
    void session.kill(options).catch(() => {});
  forwardSignals(client, first, (options) => kill({ graceMs, ...options }));
  client.onStop = () => kill({ graceMs });
  if (planned.endsWithCaller) client.onGone = () => kill({ graceMs });
  let inputFailure: number | null = null;
  const stopFeeding =
    request.stdin === "open"
      ? feed(io.stdin, session, (error) => {
          inputFailure = reportError(error, notes.io, { json: false });
          kill({ graceMs });
        })
      : () => {};
  try {
    const missing = inMessages ? await sendOutput(client, session, planned, io) : 0;
    const info = await session.wait();
    reportOutcome(info, notes.io);
    finish?.();
    resident.flush();
    const code = inputFailure ?? exitCodeOf(info);
    if (missing > 0) notes.io.err(`${missingNote(missing)}\n`);
    client.done(missing > 0 && !io.isTTY.stdout ? code || EXIT_FAILED : code, notes.text());
  } catch (error) {
    reportError(error, notes.io, { json: false });
    client.done(EXIT_FAILED, notes.text());
  } finally {
    stopFeeding();
  }
}

/** Prints the ID of a command that runs in the background. */
function printStarted(
  client: ClientConnection,
  session: Session,
  resident: Answering,
  { io, notes }: { io: Io; notes: ReturnType<typeof bufferedErrors> },
): void {
  const info = session.info();
  io.out(`${session.id}\n`);
  if (info.error !== null) reportOutcome(info, notes.io);
  resident.flush();
  client.done(info.error === null ? 0 : exitCodeOf(info), notes.text());
}

/** Sends the output of a command as a terminal is to show it. Returns the number of bytes that were dropped. */
async function sendOutput(
  client: ClientConnection,
  session: Session,
  { request, raw }: PlannedCommand,
  io: Io,
): Promise<number> {
  const writer = outputWriter(io, outputMode(request, raw));
  const sent = [0, 0] as [number, number];
  let missing = 0;
  for await (const chunk of session.follow()) {
    if (client.gone.aborted) break;
    missing += chunk.dropped;
    const isError = chunk.stream === "stderr";
    writer[isError ? "err" : "out"](chunk.bytes);
    sent[isError ? 1 : 0] = chunk.offset + chunk.bytes.length;
    client.printed(...sent);
    await io.drained();
  }
  writer.end();
  return missing;
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
    ...(io.size ? { size: io.size } : {}),
    color: io.color,
  };
  return { io: collecting, text: () => parts.join("") };
}
