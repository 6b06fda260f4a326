import { keyedAddress } from "../../../api/client.ts";
import type { LogPiece } from "../../../api/shapes.ts";
import type { LogStream } from "./log.ts";
import { type Part, textOf } from "./region.ts";

/** Pieces are handed on so often at most: a flood of output is drawn ten times a second, not ten thousand. */
const EVERY_MS = 60;

/** What is written from here on, as it comes. The browser resumes a broken stream by itself, where it broke off. */
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
  const source = new EventSource(
    keyedAddress(`/v1/sessions/${encodeURIComponent(id)}/follow`, { stream, offset: position }),
  );
  source.addEventListener("chunk", (event) => {
    const piece = JSON.parse((event as MessageEvent<string>).data) as LogPiece;
    const { text, bytes } = textOf(piece);
    const { stream: of, dropped, timeMs } = piece;
    position += dropped;
    waiting.push({ position, bytes, dropped, stream: of, timeMs, text });
    position += bytes;
    if (timer === 0) timer = window.setTimeout(flush, EVERY_MS);
  });
  source.addEventListener("end", () => {
    source.close();
    flush();
  });
  return () => {
    window.clearTimeout(timer);
    source.close();
  };
}
