import type { StreamName } from "../../core/session.ts";
import type { Piece } from "./pieces.ts";
import { spansFrom } from "./spans.ts";
import { lastBlockBelow } from "./timeline.ts";
import type { LogView } from "./view.ts";

/** How far each stream was read by somebody who comes back. */
export type LeftOff = Partial<Record<StreamName, number>>;

/**
 * Where in a view the first byte lies that they have not had. Of two streams one may have been ahead: a character that
 * was begun is not given out before the rest of it came, while the other stream goes on.
 */
export function positionAfter(view: LogView, left: LeftOff): number {
  const { log, only } = view;
  const offsets = log.names.map((name) => Math.max(0, left[name] ?? 0));
  if (only !== null) return offsets[only] ?? 0;
  const [first = 0, second = 0] = offsets;
  const block = Math.min(
    lastBlockBelow(log.timeline, first, (header) => header.offsets[0]),
    lastBlockBelow(log.timeline, second, (header) => header.offsets[1]),
  );
  for (const span of spansFrom(log, block, null)) {
    const missing = offsets[span.stream] ?? 0;
    if (span.offset + span.length > missing) return span.position + Math.max(0, missing - span.offset);
  }
  return first + second;
}

/** What is new of a piece; null: nothing. */
export function unread(piece: Piece, left: LeftOff): Piece | null {
  const known = Math.max(0, (left[piece.stream] ?? 0) - piece.offset);
  if (known === 0) return piece;
  if (known >= piece.bytes.length) return null;
  const { offset, position, bytes } = piece;
  return { ...piece, dropped: 0, offset: offset + known, position: position + known, bytes: bytes.subarray(known) };
}
