import type { StreamName } from "../../../../../src/core/session.ts";
import type { LogAnswer, LogPiece } from "../../../api/shapes.ts";
import { penAfter } from "./render.ts";
import { type Pen, PLAIN } from "./sgr.ts";

/** One piece of the log. */
export interface Part {
  /** Byte offset among all bytes of the displayed streams. */
  position: number;
  bytes: number;
  /** Bytes missing before the piece. */
  dropped: number;
  stream: StreamName;
  timeMs: number | null;
  text: string;
}

/** A contiguous range of the log in memory. `from` and `to` are byte offsets. */
export interface Region {
  from: number;
  to: number;
  parts: readonly Part[];
}

export interface Line {
  /** Byte offset of the first byte of the line. */
  position: number;
  stream: StreamName;
  timeMs: number | null;
  text: string;
  pen: Pen;
  /** Bytes missing before the line. */
  dropped: number;
  /** Whether the line ended with a line feed. */
  ended: boolean;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Returns the length of the text in UTF-8. */
export function byteLength(text: string): number {
  let plain = true;
  for (let at = 0; at < text.length && plain; at++) plain = text.charCodeAt(at) < 128;
  return plain ? text.length : encoder.encode(text).length;
}

export function regionOf({ chunks, nextOffset }: LogAnswer): Region {
  const sizes = chunks.map(textOf);
  const all = sizes.reduce((sum, { bytes }, index) => sum + bytes + (chunks[index]?.dropped ?? 0), 0);
  const from = Math.max(0, nextOffset - all);
  let position = from;
  const parts = chunks.map(({ stream, dropped, timeMs }, index): Part => {
    const { text, bytes } = sizes[index] as { text: string; bytes: number };
    position += dropped;
    const part = { position, bytes, dropped, stream, timeMs, text };
    position += bytes;
    return part;
  });
  return { from, to: nextOffset, parts };
}

export function textOf({ text, base64 }: Pick<LogPiece, "text" | "base64">): { text: string; bytes: number } {
  if (text !== undefined) return { text, bytes: byteLength(text) };
  const bytes = Uint8Array.from(atob(base64 ?? ""), (character) => character.charCodeAt(0));
  return { text: decoder.decode(bytes), bytes: bytes.length };
}

export function joined(first: Region, second: Region): Region {
  return { from: first.from, to: second.to, parts: [...first.parts, ...second.parts] };
}

/** Returns the region reduced to at most `most` bytes. `keep` is the side that stays. */
export function trimmed(region: Region, most: number, keep: "start" | "end"): Region {
  const parts = [...region.parts];
  let { from, to } = region;
  while (to - from > most && parts.length > 1) {
    if (keep === "end") {
      parts.shift();
      from = (parts[0]?.position ?? to) - (parts[0]?.dropped ?? 0);
    } else {
      parts.pop();
      const last = parts.at(-1) as Part;
      to = last.position + last.bytes;
    }
  }
  return { from, to, parts };
}

/** Lines longer than this are split, because output can be long without containing a line feed. */
const LONGEST_LINE = 8192;

/** Returns the lines of a region. A region that starts in the middle of a line omits that line. */
export function linesOf(region: Region): Line[] {
  const lines: Line[] = [];
  let open: Line | null = null;
  for (const part of region.parts) {
    if (open && (open.stream !== part.stream || part.dropped > 0)) open = null;
    let position = part.position;
    let dropped = part.dropped;
    for (const piece of piecesOf(part.text)) {
      const ended = piece.endsWith("\n");
      const text = ended ? piece.slice(0, -1).replace(/\r$/, "") : piece;
      if (open && open.text.length < LONGEST_LINE)
        Object.assign(open, { text: (open.text + text).replace(ended ? /\r$/ : /^$/, ""), ended });
      else {
        open = { position, stream: part.stream, timeMs: part.timeMs, text, pen: PLAIN, dropped, ended };
        lines.push(open);
      }
      if (ended) open = null;
      dropped = 0;
      position += byteLength(piece);
    }
  }
  const begun = region.from > 0 && lines.length > 1 ? lines.slice(1) : lines;
  return withPens(begun);
}

function* piecesOf(text: string): Generator<string> {
  for (let at = 0; at < text.length; ) {
    const feed = text.indexOf("\n", at);
    const end = Math.min(feed < 0 ? text.length : feed + 1, at + LONGEST_LINE);
    yield text.slice(at, end);
    at = end;
  }
}

/** Sets the style at the start of each line: styles carry over from line to line within a stream. */
function withPens(lines: Line[]): Line[] {
  const pens: Partial<Record<StreamName, Pen>> = {};
  for (const line of lines) {
    line.pen = pens[line.stream] ?? PLAIN;
    pens[line.stream] = penAfter(line.text, line.pen);
  }
  return lines;
}
