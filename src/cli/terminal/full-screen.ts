import type { ReadStream } from "node:tty";
import type { Io } from "../command.ts";
import { type Key, keysIn } from "./keys.ts";

/** What shows and changes by itself does so once a second. */
const RENEW_MS = 1000;
const ENTER_SCREEN = "\x1b[?1049h\x1b[?25l";
const LEAVE_SCREEN = "\x1b[?25h\x1b[?1049l";
const STOPPING = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Something a person looks at on the whole screen, and steers by keys. */
export interface View {
  /** Looks anew at what it is about. True: it is over. */
  renew(): boolean;
  /** True: the person has seen enough. */
  press(key: Key): boolean;
  /** From the top of the screen; never more than it has. */
  lines(size: { columns: number; rows: number }): string[];
}

/** Shows a view until it is over; then the terminal is as it was. `onChange` tells when to look before a second is over. */
export async function fullScreen(
  view: View,
  io: Io,
  onChange: (look: () => void) => () => void = never,
): Promise<void> {
  const stdin = io.stdin as ReadStream;
  const { promise: over, resolve, reject } = Promise.withResolvers<void>();
  let shown = true;
  const leave = () => {
    shown = false;
    resolve();
  };
  /** Whatever fails must not leave a person with a raw terminal. */
  const step = (isOver: () => boolean) => {
    try {
      if (shown && isOver()) leave();
      if (shown) draw();
    } catch (error) {
      shown = false;
      reject(error);
    }
  };
  const draw = () => {
    const { columns = io.columns, rows = 24 } = process.stdout;
    const lines = view.lines({ columns, rows }).map((line) => `${line}\x1b[K`);
    io.out(`\x1b[H${lines.join("\r\n")}\x1b[J`);
  };
  const renew = () => step(() => view.renew());
  const onKeys = (data: Buffer) => {
    for (const key of keysIn(data.toString())) step(() => view.press(key) || view.renew());
  };
  const stop = onChange(renew);
  const timer = setInterval(renew, RENEW_MS);
  for (const signal of STOPPING) process.on(signal, leave);
  process.stdout.on("resize", renew);
  stdin.setRawMode(true).resume().on("data", onKeys).once("end", leave);
  io.out(ENTER_SCREEN);
  renew();
  try {
    await over;
  } finally {
    clearInterval(timer);
    stop();
    stdin.off("data", onKeys).off("end", leave).setRawMode(false).pause();
    for (const signal of STOPPING) process.off(signal, leave);
    process.stdout.off("resize", renew);
    io.out(LEAVE_SCREEN);
  }
}

function never(): () => void {
  return () => {};
}
