import { closeSessionLog, holeOf, openSessionLog, readStream, streamSize } from "../logs/session-log.ts";

export const BLOCK_BYTES = 256 * 1024;

/** A run of bytes of the log; `gap`: what came right before it is gone, punched out for the disk cap. */
export interface LogPiece {
  offset: number;
  bytes: Uint8Array;
  gap: boolean;
}

/** A terminal session's one stream, read by offset. */
export class LogReader {
  readonly #log;

  constructor(folder: string) {
    this.#log = openSessionLog(folder, "merged");
  }

  get size(): number {
    return streamSize(this.#log, 0);
  }

  /** What is between two offsets, in blocks, without what was punched out. */
  *between(from: number, to: number): Generator<LogPiece> {
    let gap = false;
    for (let at = from; at < to; ) {
      const bytes = readStream(this.#log, 0, at, Math.min(BLOCK_BYTES, to - at));
      if (bytes.length > 0) {
        yield { offset: at, bytes, gap };
        at += bytes.length;
        gap = false;
        continue;
      }
      const hole = holeOf(this.#log, 0);
      if (hole.start > at || hole.end <= at) return;
      at = hole.end;
      gap = true;
    }
  }

  close(): void {
    closeSessionLog(this.#log);
  }
}
