import { constants } from "node:os";
import type { Readable } from "node:stream";
import { SallyportError } from "../../../core/error.ts";
import type { SessionHandle } from "../../../core/gateway.ts";
import type { RunRequest } from "../../../core/request.ts";
import type { Gateway } from "../../../gateway/gateway.ts";
import type { Io } from "../../command.ts";
import { EXIT_FAILED, EXIT_SIGNAL, exitCodeOf } from "../../exit-code.ts";
import { missingNote, reportOutcome } from "../../notes.ts";
import { reportError } from "../../report-error.ts";
import { type Continuation, continuedSession } from "../../resident/continuation.ts";
import { attachSession } from "../../terminal/attach-session.ts";
import { type OutputMode, type OutputWriter, outputWriter } from "../../terminal/output.ts";

type ForegroundOptions = Omit<Parameters<Gateway["startAs"]>[1], "foreground" | "signal">;

/**
 * Runs a command with live output and, if requested, the stdin of this process. Returns its exit code. With
 * `continuation`, takes over a command that a native client has started.
 */
export async function runStreamed(
  gateway: Gateway,
  request: RunRequest,
  io: Io,
  raw: boolean,
  { continuation = null, ...options }: ForegroundOptions & { continuation?: Continuation | null } = {},
): Promise<number> {
  const signals = new SignalForwarder(request.graceMs, io);
  let stopFeeding = () => {};
  let inputFailure: number | null = null;
  try {
    const begun = continuation && continuedSession(gateway, continuation);
    const startOptions = { ...options, foreground: true, signal: signals.beforeStart };
    const session = begun ?? (await gateway.startAs(request, startOptions));
    signals.to(session);
    if (begun && continuation?.inputLost) {
      inputFailure = reportError(inputLost(), io, { json: false });
      session.kill({ graceMs: request.graceMs }).catch(() => {});
    } else if (request.stdin === "open" && !(begun && continuation?.inputEnded)) {
      // Without the rest of its input, the command would wait forever, or do something else than intended.
      stopFeeding = feed(io.stdin, session, (error) => {
        inputFailure = reportError(error, io, { json: false });
        session.kill({ graceMs: request.graceMs }).catch(() => {});
      });
    }
    const after = begun ? continuation?.after : undefined;
    const writer = outputWriter(io, outputMode(request, raw));
    const missing = await streamOutput(session, { graceMs: request.graceMs, writer, io, after });
    const info = await session.wait();
    reportOutcome(info, io);
    const code = inputFailure ?? exitCodeOf(info);
    if (missing === 0) return code;
    io.err(`${missingNote(missing)}\n`);
    // A program that reads the output does not see the note, so the exit code must report the missing bytes.
    return io.isTTY.stdout ? code : code || EXIT_FAILED;
  } catch (error) {
    if (signals.beforeStart.aborted) return signals.exitCode;
    throw error;
  } finally {
    stopFeeding();
    signals.stop();
  }
}

/** Returns how the output of a command is printed on a terminal. */
export function outputMode(request: RunRequest, raw: boolean): OutputMode {
  if (raw) return "raw";
  return request.pty === true ? "drawing" : "visible";
}

/** Prints the output of the command and returns the number of bytes that were dropped. */
async function streamOutput(
  session: SessionHandle,
  {
    graceMs,
    writer,
    io,
    after,
  }: { graceMs: number | undefined; writer: OutputWriter; io: Io; after: Continuation["after"] | undefined },
): Promise<number> {
  let missing = 0;
  try {
    for await (const chunk of session.follow(after ? { after } : {})) {
      missing += chunk.dropped;
      if (chunk.stream === "stderr") writer.err(chunk.bytes);
      else writer.out(chunk.bytes);
      await io.drained();
    }
    writer.end();
  } catch (error) {
    // The reader has closed the pipe (`| head`). Stop the command, as SIGPIPE would have.
    await session.kill({ graceMs }).catch(() => {});
    throw error;
  }
  return missing;
}

function inputLost(): SallyportError {
  return new SallyportError("StdinClosed", "The resident gateway was killed, and input for the command may be lost.", [
    { action: "retry", hint: "Run the command again." },
  ]);
}

/** Runs a command on a new terminal and attaches to it until the command ends or the user detaches. */
export async function runOnTerminal(
  gateway: Gateway,
  request: RunRequest,
  io: Io,
  raw: boolean,
  options: ForegroundOptions = {},
): Promise<number> {
  const signals = new SignalForwarder(request.graceMs, io);
  try {
    const session = await gateway.startAs(request, { ...options, foreground: true, signal: signals.beforeStart });
    signals.to(session);
    const start = { offset: 0, opening: "" };
    return await attachSession(session, io, { readOnly: false, raw, start, approvals: gateway.approvals });
  } catch (error) {
    if (signals.beforeStart.aborted) return signals.exitCode;
    throw error;
  } finally {
    signals.stop();
  }
}

/** Pipes stdin to the command until either side ends. Returns a function that stops this. */
export function feed(stdin: Readable, session: SessionHandle, onError: (error: unknown) => void): () => void {
  let stopped = false;
  pump(stdin, session).catch((error: unknown) => {
    if (!stopped && !commandHadEnough(error)) onError(error);
  });
  return () => {
    stopped = true;
    stdin.destroy();
  };
}

async function pump(stdin: Readable, session: SessionHandle): Promise<void> {
  for await (const chunk of stdin) await session.write(chunk as Uint8Array);
  await session.closeStdin();
}

/**
 * Reports whether an error only means that the command closed its stdin or exited before all input was sent, as `head`
 * may. As in a shell, this is not reported.
 */
function commandHadEnough(error: unknown): boolean {
  return error instanceof SallyportError && (error.type === "StdinClosed" || error.type === "AlreadyExited");
}

const FORWARDED = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const;

/** How long the reader of stdout has to read the last output after a signal. */
const LAST_OUTPUT_MS = 2000;

type Forwarded = (typeof FORWARDED)[number];

/**
 * Forwards signals to the command, which is in its own session and does not receive Ctrl-C. The first signal goes to the
 * process tree and is followed by SIGKILL after the grace period, the second kills the tree, and the third ends this
 * process.
 */
class SignalForwarder {
  #session: SessionHandle | null = null;
  #received: Forwarded[] = [];
  #leaving: NodeJS.Timeout | undefined;
  readonly #giveUp = new AbortController();
  readonly #graceMs: number | undefined;
  readonly #io: Io;
  readonly #listeners = FORWARDED.map((signal) => ({ signal, listener: () => this.#receive(signal) }));

  constructor(graceMs: number | undefined, io: Io) {
    this.#io = io;
    this.#graceMs = graceMs;
    for (const { signal, listener } of this.#listeners) process.on(signal, listener);
  }

  /** Aborted by a signal that arrives before the command has started. */
  get beforeStart(): AbortSignal {
    return this.#giveUp.signal;
  }

  get exitCode(): number {
    return EXIT_SIGNAL + constants.signals[this.#received[0] ?? "SIGTERM"];
  }

  /** Sets the session, and forwards a signal that arrived before it started. */
  to(session: SessionHandle): void {
    clearTimeout(this.#leaving);
    this.#session = session;
    if (this.#received.length > 0) this.#passOn();
  }

  stop(): void {
    for (const { signal, listener } of this.#listeners) process.off(signal, listener);
  }

  #receive(signal: Forwarded): void {
    this.#received.push(signal);
    // The terminal has echoed ^C without a line break.
    if (signal === "SIGINT" && this.#io.isTTY.stderr) this.#io.err("\n");
    if (this.#received.length > 2) process.exit(this.exitCode);
    if (this.#session) {
      this.#passOn();
    } else {
      this.#giveUp.abort();
      this.#leaveSoon();
    }
  }

  #passOn(): void {
    const [first, second] = this.#received;
    const kill = second ? { signal: "SIGKILL" } : { signal: first, graceMs: this.#graceMs };
    // Fails when the command has already ended.
    const over = this.#session?.kill(kill).catch(() => {});
    void over?.then(() => this.#leaveSoon());
  }

  /** Exits soon even if the start hangs or the reader of stdout has stopped reading. */
  #leaveSoon(): void {
    clearTimeout(this.#leaving);
    this.#leaving = setTimeout(() => process.exit(this.exitCode), LAST_OUTPUT_MS).unref();
  }
}
