import type { Io } from "./command.ts";

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
