import type { Screen } from "../../../core/terminal.ts";
import { Emulator } from "../emulator.ts";

/** A screen and how long it was shown. */
export interface Frame {
  screen: Screen;
  lastsMs: number;
}

/** The minimum duration of a frame. Changes that are closer together are joined, to limit the number of frames. */
const SHORTEST_MS = 80;
/** The maximum duration of a frame. Longer pauses are shortened. */
const LONGEST_MS = 2000;
const LAST_MS = 4000;
/** The maximum number of frames, because frames are held in memory. Of a longer recording, the last frames are kept. */
const MOST_FRAMES = 400;

/** Plays an asciicast in a terminal emulator and returns the frames. */
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
