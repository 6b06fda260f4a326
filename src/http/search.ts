import type { LogSlice } from "../core/gateway.ts";
import type { LogQuery } from "../core/session.ts";
import type { Session } from "../session/session.ts";
import { regularExpression, search } from "../text/pattern.ts";

/** Of one read, and of all reads of one call: whoever looks through more goes on where it ended. */
const READ_BYTES = 1 << 20;
const CALL_BYTES = 32 << 20;
/** Of the line that is shown. */
const SHOWN = 400;

export interface SearchQuery {
  q: string;
  /** `q` is a regular expression; otherwise a text, upper and lower case alike. */
  regex: boolean;
  stream?: LogQuery["stream"];
  /** The offset to begin at. */
  from: number;
  limit: number;
}

export interface Match {
  /** Where its line begins, as offsets count in what was asked for. */
  offset: number;
  text: string;
}

/** Looks for a text line by line, within bounds. `next` is where to go on; null: that was all there is so far. */
export async function searchLog(
  session: Session,
  query: SearchQuery,
): Promise<{ matches: Match[]; next: number | null }> {
  const { stream, from, limit } = query;
  const finder = finderOf(query);
  const matches: Match[] = [];
  let at = from;
  for (let left = CALL_BYTES; left > 0; left -= READ_BYTES) {
    const slice = await session.logs({ ...(stream ? { stream } : {}), offset: at, limit: READ_BYTES });
    const isLast = slice.nextOffset >= slice.totalBytes || slice.chunks.length === 0;
    const piece = pieceOf(slice, isLast);
    for (const { after, ...match } of linesWith(piece, finder)) {
      matches.push(match);
      if (matches.length === limit) return { matches, next: after };
    }
    if (isLast) return { matches, next: null };
    at = piece.end;
  }
  return { matches, next: at };
}

interface Piece {
  bytes: Buffer;
  /** The offset of the byte at this place: what was dropped counts. */
  offsetOf(place: number): number;
  /** Where the next read begins. */
  end: number;
}

/** What was read up to its last whole line; a line that fills it all by itself is taken as it is. */
function pieceOf({ chunks, nextOffset }: LogSlice, isLast: boolean): Piece {
  const all = Buffer.concat(chunks.map(({ bytes }) => bytes));
  const lastBreak = all.lastIndexOf(10);
  const bytes = isLast || lastBreak < 0 ? all : all.subarray(0, lastBreak + 1);
  const gaps: { place: number; dropped: number }[] = [];
  let place = 0;
  for (const chunk of chunks) {
    if (chunk.dropped > 0) gaps.push({ place, dropped: chunk.dropped });
    place += chunk.bytes.length;
  }
  // From the end: that offset is known, whatever lies before it.
  const offsetOf = (wanted: number) =>
    nextOffset - (all.length - wanted) - gaps.reduce((sum, gap) => sum + (gap.place > wanted ? gap.dropped : 0), 0);
  return { bytes, offsetOf, end: bytes.length === all.length ? nextOffset : offsetOf(bytes.length) };
}

/** From where on, to where the next match stands; -1: nowhere. */
type Finder = (text: string, from: number) => number;

function finderOf({ q, regex }: SearchQuery): (text: string) => Finder {
  if (!regex) {
    const wanted = q.toLowerCase();
    return (text) => {
      const lower = text.toLowerCase();
      // Where lower case is longer, places would not fit: then the exact text is looked for.
      return lower.length === text.length
        ? (_, from) => lower.indexOf(wanted, from)
        : (_, from) => text.indexOf(q, from);
    };
  }
  regularExpression(q, "q");
  const pattern = new RegExp(q, "gm");
  return () => (text, from) => {
    pattern.lastIndex = from;
    return search(pattern, text)?.index ?? -1;
  };
}

/** A line break is the same byte in every text, so lines are counted in both: what is no UTF-8 moves nothing. */
function* linesWith(
  { bytes, offsetOf }: Piece,
  finder: (text: string) => Finder,
): Generator<Match & { after: number }, void, undefined> {
  const text = bytes.toString("utf8");
  const find = finder(text);
  let [start, byteStart] = [0, 0];
  while (start < text.length) {
    const at = find(text, start);
    if (at < 0 || at >= text.length) return;
    let [end, byteEnd] = [0, 0];
    for (;;) {
      end = lineEnd(text.indexOf("\n", start), text.length);
      byteEnd = lineEnd(bytes.indexOf(10, byteStart), bytes.length);
      if (at < end) break;
      [start, byteStart] = [end, byteEnd];
    }
    const line = text.slice(start, end).replace(/\n$/, "");
    yield { offset: offsetOf(byteStart), text: shown(line, at - start), after: offsetOf(byteEnd) };
    [start, byteStart] = [end, byteEnd];
  }
}

function lineEnd(lineBreak: number, length: number): number {
  return lineBreak < 0 ? length : lineBreak + 1;
}

function shown(line: string, at: number): string {
  const start = line.length <= SHOWN ? 0 : Math.max(0, Math.min(at - SHOWN / 4, line.length - SHOWN));
  return line.slice(start, start + SHOWN).toWellFormed();
}
