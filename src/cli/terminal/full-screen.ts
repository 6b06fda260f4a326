import type { ReadStream } from "node:tty";
import type { Io } from "../command.ts";

/** How often the view is refreshed. */
const RENEW_MS = 1000;

export const ENTER_SCREEN = "\x1b[?1049h\x1b[?25l";
export const LEAVE_SCREEN = "\x1b[?25h\x1b[?1049l";
export const STOPPING = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** A view that takes the whole screen and is controlled by keys. */
export interface View {
  /** Reads the current data. Returns true when the view should close. */
  renew(): boolean;
  /** Handles a key. Returns true when the view should close. */
  press(key: Key, typed: Typed): boolean;
  /** Returns the lines from the top of the screen, at most as many as it has rows. */
  lines(size: { columns: number; rows: number }): string[];
}

/** How a key was typed. */
export interface Typed {
  /** Whether nothing else arrived with it, as with pasted text or keys that were typed before. */
  alone: boolean;
  /** The time since the previous key, or since the view was opened. */
  quietMs: number;
}

interface FullScreenOptions {
  /** Subscribes to changes that need a refresh. */
  onChange?: (look: () => void) => () => void;
  /** Sequences to write before and after the view, within its screen. */
  prepare?: string;
  restore?: string;
}

/** Shows a view until it closes, then restores the terminal. */
export async function fullScreen(
  view: View,
  io: Io,
  { onChange = never, prepare = "", restore = "" }: FullScreenOptions = {},
): Promise<void> {
  const stdin = io.stdin as ReadStream;
  const wasRaw = stdin.isRaw;
  const { promise: over, resolve, reject } = Promise.withResolvers<void>();
  let shown = true;
  const leave = () => {
    shown = false;
    resolve();
  };
  /** Rejects `over` on an error, so that the terminal is restored before the error is reported. */
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
  const paste = new PasteFilter();
  let lastMs = performance.now();
  const onKeys = (data: Buffer) => {
    const keys = [...keysIn(paste.remove(data.toString()))];
    const nowMs = performance.now();
    const typed = { alone: keys.length === 1, quietMs: nowMs - lastMs };
    lastMs = nowMs;
    for (const key of keys) step(() => view.press(key, typed) || view.renew());
  };
  const stop = onChange(renew);
  const timer = setInterval(renew, RENEW_MS);
  for (const signal of STOPPING) process.on(signal, leave);
  process.stdout.on("resize", renew);
  stdin.setRawMode(true).resume().on("data", onKeys).once("end", leave);
  io.out(ENTER_SCREEN + prepare);
  renew();
  lastMs = performance.now();
  try {
    await over;
  } finally {
    clearInterval(timer);
    stop();
    stdin.off("data", onKeys).off("end", leave).setRawMode(wasRaw).pause();
    for (const signal of STOPPING) process.off(signal, leave);
    process.stdout.off("resize", renew);
    io.out(restore + LEAVE_SCREEN);
  }
}

function never(): () => void {
  return () => {};
}

/** Removes pasted text where the terminal marks it: what is pasted is not typed. */
class PasteFilter {
  #pasting = false;

  remove(data: string): string {
    const typed: string[] = [];
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the marks are escape sequences
    for (const part of data.split(/(\x1b\[20[01]~)/)) {
      if (part === "\x1b[200~") this.#pasting = true;
      else if (part === "\x1b[201~") this.#pasting = false;
      else if (!this.#pasting) typed.push(part);
    }
    return typed.join("");
  }
}

/** One key, decoded from the input of a terminal in raw mode. */
export type Key =
  | { kind: "text"; text: string }
  | { kind: "up" | "down" | "page-down" | "page-up" | "enter" | "escape" | "erase" | "interrupt" };

const SEQUENCES: [string, Exclude<Key["kind"], "text">][] = [
  ["\x1b[A", "up"],
  ["\x1bOA", "up"],
  ["\x1b[B", "down"],
  ["\x1bOB", "down"],
  ["\x1b[5~", "page-up"],
  ["\x1b[6~", "page-down"],
  ["\r", "enter"],
  ["\n", "enter"],
  ["\x7f", "erase"],
  ["\b", "erase"],
  ["\x03", "interrupt"],
  ["\x04", "interrupt"],
];

/** Decodes all keys of one read. Unknown escape sequences are dropped, so that they are not mistaken for text. */
function* keysIn(data: string): Generator<Key> {
  for (let at = 0; at < data.length; ) {
    const rest = data.slice(at);
    const known = SEQUENCES.find(([sequence]) => rest.startsWith(sequence));
    // biome-ignore lint/suspicious/noControlCharactersInRegex: keys send escape sequences
    const unknown = /^\x1b(?:\[[0-9;?]*[ -/]*[@-~]|O.)/.exec(rest)?.[0];
    const character = String.fromCodePoint(rest.codePointAt(0) ?? 0);
    if (known) yield { kind: known[1] };
    else if (character === "\x1b" && !unknown) yield { kind: "escape" };
    else if (!unknown && character >= " ") yield { kind: "text", text: character };
    at += known?.[0].length ?? unknown?.length ?? character.length;
  }
}
