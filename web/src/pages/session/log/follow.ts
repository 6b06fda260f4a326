import { readEvents } from "../../../api/events.ts";
import type { LogPiece } from "../../../api/shapes.ts";
import type { LogStream } from "./log.ts";
import { type Part, textOf } from "./region.ts";

/** The interval at which received pieces are passed on, so that a flood of output causes few redraws. */
const EVERY_MS = 60;

/**
 * Follows a log from an offset. After a lost connection, the stream is resumed where it stopped.
 * Returns a function that stops following.
 */
export function follow(
  id: string,
  stream: LogStream,
  from: number,
  onParts: (parts: Part[], end: number) => void,
): () => void {
  let position = from;
  let waiting: Part[] = [];
  let timer = 0;
  const flush = (): void => {
    timer = 0;
    const parts = waiting;
    waiting = [];
    if (parts.length > 0) onParts(parts, position);
  };
  const take = (piece: LogPiece): void => {
    const { text, bytes } = textOf(piece);
    const { stream: of, dropped, timeMs } = piece;
    position += dropped;
    waiting.push({ position, bytes, dropped, stream: of, timeMs, text });
    position += bytes;
    if (timer === 0) timer = window.setTimeout(flush, EVERY_MS);
  };
  const stop = readEvents(
    `/v1/sessions/${encodeURIComponent(id)}/follow`,
    { stream, offset: position },
    {
      onEvent: (name, data) => {
        if (name === "chunk") take(data as LogPiece);
        else if (name === "end") {
          stop();
          flush();
        }
      },
      onLost: () => {},
    },
  );
  return () => {
    window.clearTimeout(timer);
    stop();
  };
}
