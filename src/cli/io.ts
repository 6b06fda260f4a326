import { once } from "node:events";
import { fstatSync, statSync } from "node:fs";
import { isatty, type WriteStream } from "node:tty";
import type { Io } from "./command.ts";

/** The reader of stdout has closed the pipe, for example `| head`. This ends the command but is not reported. */
export class BrokenPipe extends Error {}

/** Stdout cannot be written, for example because the disk is full. */
export class OutputLost extends Error {}

/** Reports whether to use colors: only on a terminal, unless the environment overrides this. */
export function wantsColor(isTTY: boolean, env: NodeJS.ProcessEnv = process.env): boolean {
  const { FORCE_COLOR: forced, NO_COLOR, TERM } = env;
  if (forced !== undefined) return forced !== "0" && forced !== "false";
  return isTTY && !NO_COLOR && TERM !== "dumb";
}

/** Returns the streams of this process. `flushed` resolves when all output has been written. */
export function processIo(): Io & { flushed(): Promise<void> } {
  const { stdout, stderr } = process;
  let failure: Error | null = null;
  let thrown = false;
  stdout.on("error", (error: NodeJS.ErrnoException) => {
    failure = error.code === "EPIPE" ? new BrokenPipe() : new OutputLost(error.message);
  });
  // There is no other stream on which a failure of stderr could be reported.
  stderr.on("error", () => {});

  const throwFailure = () => {
    if (failure === null || thrown) return;
    thrown = true;
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
    // A getter, because the first access to process.stdin makes Node open it.
    get stdin() {
      return process.stdin;
    },
    isTTY: { stdin: isatty(0), stdout: isatty(1), stderr: isatty(2) },
    get isDiscarded() {
      const { rdev } = fstatSync(1);
      return rdev !== 0 && rdev === statSync("/dev/null", { throwIfNoEntry: false })?.rdev;
    },
    columns: (stdout as WriteStream).columns || Number(process.env.COLUMNS) || 80,
    color: wantsColor(isatty(1)),
  };
}

async function room(stream: NodeJS.WriteStream): Promise<void> {
  // The `error` listener above records failures that occur in the meantime.
  if (stream.writableNeedDrain) await once(stream, "drain").catch(() => {});
}

async function handedOver(stream: NodeJS.WriteStream): Promise<void> {
  if (stream.writable) await new Promise<void>((resolve) => void stream.write("", () => resolve()));
}

/** Prints JSON, indented on a terminal and on one line otherwise. */
export function printJson(value: unknown, io: Io): void {
  io.out(`${io.isTTY.stdout ? JSON.stringify(value, null, 2) : JSON.stringify(value)}\n`);
}

/** Prints a single value as an object and several values as an array. */
export function printOneOrMany(values: unknown[], io: Io): void {
  if (values.length > 0) printJson(values.length === 1 ? values[0] : values, io);
}

/** Shows the progress of a long operation if stderr is a terminal. */
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
