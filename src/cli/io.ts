import { once } from "node:events";
import { isatty, type WriteStream } from "node:tty";
import type { Io } from "./command.ts";

/** The reader of stdout went away (`| head`): not a failure, but the end. */
export class BrokenPipe extends Error {}

/** Stdout cannot be written to: the disk behind it is full, for instance. */
export class OutputLost extends Error {}

/** A person at a terminal gets colour unless they said otherwise; anything else does not unless it was asked for. */
function wantsColor(isTTY: boolean): boolean {
  const { FORCE_COLOR: forced, NO_COLOR, TERM } = process.env;
  if (forced !== undefined) return forced !== "0" && forced !== "false";
  return isTTY && !NO_COLOR && TERM !== "dumb";
}

/** The process's own streams; `flushed` resolves when every byte has been handed over. */
export function processIo(): Io & { flushed(): Promise<void> } {
  const { stdout, stderr } = process;
  let failure: Error | null = null;
  let told = false;
  stdout.on("error", (error: NodeJS.ErrnoException) => {
    failure = error.code === "EPIPE" ? new BrokenPipe() : new OutputLost(error.message);
  });
  // Nobody is left to tell when stderr is gone.
  stderr.on("error", () => {});

  const throwFailure = () => {
    if (failure === null || told) return;
    told = true;
    throw failure;
  };
  return {
    out: (text) => {
      if (failure === null) stdout.write(text);
    },
    err: (text) => {
      if (stderr.writable) stderr.write(text);
    },
    drained: async () => {
      await Promise.all([room(stdout), room(stderr)]);
      throwFailure();
    },
    flushed: async () => {
      await Promise.all([handedOver(stdout), handedOver(stderr)]);
      throwFailure();
    },
    // Looked up only when asked for: the mere look makes Node open it.
    get stdin() {
      return process.stdin;
    },
    isTTY: { stdin: isatty(0), stdout: isatty(1), stderr: isatty(2) },
    columns: (stdout as WriteStream).columns || Number(process.env.COLUMNS) || 80,
    color: wantsColor(isatty(1)),
  };
}

async function room(stream: NodeJS.WriteStream): Promise<void> {
  // A stream that breaks while we wait says so on `error`, which its own listener has noted.
  if (stream.writableNeedDrain) await once(stream, "drain").catch(() => {});
}

async function handedOver(stream: NodeJS.WriteStream): Promise<void> {
  if (stream.writable) await new Promise<void>((resolve) => void stream.write("", () => resolve()));
}

/** Indented for a person, on one line for a program. */
export function printJson(value: unknown, io: Io): void {
  io.out(`${io.isTTY.stdout ? JSON.stringify(value, null, 2) : JSON.stringify(value)}\n`);
}

/** What was asked for by one id is one object; by several, an array. */
export function printOneOrMany(values: unknown[], io: Io): void {
  if (values.length > 0) printJson(values.length === 1 ? values[0] : values, io);
}

/** How far long work has come, for a person at a terminal; nobody else hears of it. */
export function progressLine(what: string, io: Io): { show(done: number, total: number): void; remove(): void } {
  let shown = false;
  return {
    show: (done, total) => {
      if (!io.isTTY.stderr) return;
      shown = true;
      io.err(`\r${done} of ${total} ${what}\x1b[K`);
    },
    remove: () => {
      if (shown) io.err("\r\x1b[K");
    },
  };
}
