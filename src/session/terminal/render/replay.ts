import type { Screen } from "../../../core/terminal.ts";
import { Emulator } from "../emulator.ts";

/** What was on the screen from some moment on, for so long. */
export interface Frame {
  screen: Screen;
  lastsMs: number;
}

/** A picture for every moment would be as many as there were keys: those closer together are one. */
const SHORTEST_MS = 80;
/** Where nothing happened for longer, nobody wants to wait as long again. */
const LONGEST_MS = 2000;
const LAST_MS = 4000;
/** Of a long recording, the end. Each is held as cells. */
const MOST_FRAMES = 400;

/** Plays an asciicast into a terminal, and keeps what could be seen. */
export async function replay(lines: AsyncIterable<string>): Promise<Frame[]> {
  const frames: Frame[] = [];
  let emulator: Emulator | null = null;
  let shownAt = 0;
  try {
    for await (const line of lines) {
      const event = JSON.parse(line) as { width: number; height: number } | [number, string, string];
      if (!Array.isArray(event)) {
        emulator = new Emulator({ columns: event.width, rows: event.height });
        continue;
      }
      if (!emulator) break;
      const [seconds, kind, data] = event;
      const sinceMs = seconds * 1000 - shownAt;
      if (sinceMs >= SHORTEST_MS) {
        frames.push({ screen: seen(emulator), lastsMs: Math.min(sinceMs, LONGEST_MS) });
        if (frames.length > MOST_FRAMES) frames.shift();
        shownAt = seconds * 1000;
      }
      const [columns = 0, rows = 0] = kind === "r" ? data.split("x").map(Number) : [];
      if (kind === "r") emulator.resize({ columns, rows });
      else await emulator.feed(Buffer.from(data));
    }
    if (emulator) frames.push({ screen: seen(emulator), lastsMs: LAST_MS });
    return frames;
  } finally {
    emulator?.dispose();
  }
}

function seen(emulator: Emulator): Screen {
  return { ...emulator.screen({ attributes: true }), offset: 0 };
}
