import type { LogSlice, SessionHandle } from "../../contract/gateway.ts";
import type { LogChunk, LogQuery } from "../../contract/session.ts";

const PAGE_BYTES = 1024 * 1024;
const LINE_FEED = 0x0a;

/** What a query selects of what was written so far, a page at a time: the log may be larger than memory. */
export async function* readLog(session: SessionHandle, query: LogQuery): AsyncGenerator<LogChunk, void, undefined> {
  let bytesLeft = query.limit ?? Number.POSITIVE_INFINITY;
  let linesLeft = query.toLine === undefined ? Number.POSITIVE_INFINITY : query.toLine - (query.fromLine ?? 1) + 1;
  let page = await firstPage(session, query);
  const end = page.totalBytes;
  for (;;) {
    for (const chunk of page.chunks) {
      const { bytes, lines } = firstLines(chunk.bytes, linesLeft);
      yield { ...chunk, bytes };
      bytesLeft -= bytes.length;
      linesLeft -= lines;
      if (linesLeft <= 0) return;
    }
    if (page.chunks.length === 0 || page.nextOffset >= end || bytesLeft <= 0) return;
    const next = { offset: page.nextOffset, limit: Math.min(PAGE_BYTES, bytesLeft) };
    page = await session.logs(query.stream ? { ...next, stream: query.stream } : next);
  }
}

async function firstPage(session: SessionHandle, query: LogQuery): Promise<LogSlice> {
  const page = await session.logs({ ...query, limit: Math.min(PAGE_BYTES, query.limit ?? PAGE_BYTES) });
  const { tail, ...rest } = query;
  const given = page.chunks.reduce((sum, { bytes }) => sum + bytes.length, 0);
  // The last lines were cut to fit the page. Found by number they begin where they should, at the price of a search.
  const cut = tail !== undefined && tail > 0 && given > PAGE_BYTES - 4;
  return cut ? session.logs({ ...rest, fromLine: -tail, limit: PAGE_BYTES }) : page;
}

function firstLines(bytes: Uint8Array, most: number): { bytes: Uint8Array; lines: number } {
  let lines = 0;
  if (most === Number.POSITIVE_INFINITY) return { bytes, lines };
  for (let at = bytes.indexOf(LINE_FEED); at >= 0; at = bytes.indexOf(LINE_FEED, at + 1)) {
    lines += 1;
    if (lines >= most) return { bytes: bytes.subarray(0, at + 1), lines };
  }
  return { bytes, lines };
}
