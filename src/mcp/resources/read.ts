import type { ReadResourceResult } from "@modelcontextprotocol/server";
import { MODEL_BYTES } from "../../core/output-limits.ts";
import { forModel } from "../../text/for-model.ts";
import { truncateMiddle } from "../../text/truncate.ts";
import { screenText } from "../../toolsets/texts/terminal.ts";
import type { Door } from "../door.ts";
import { type Found, missing, ownSession } from "./own-session.ts";
import { sessionJson } from "./texts.ts";
import { isLog, type Log } from "./uri.ts";

/** One session's facts, or a part of what it wrote; never more than a model takes (promise 6). */
export async function readResource(door: Door, uri: string): Promise<ReadResourceResult> {
  const found = await ownSession(door, uri);
  const { part, offset, limit } = found.address;
  if (part === null) return { contents: [{ uri, mimeType: "application/json", text: sessionJson(found.info) }] };
  if (!isLog(part)) return { contents: [{ uri, mimeType: "text/plain", text: await screenOf(found, uri) }] };
  const { text, meta } =
    offset === null && limit === null ? await bothEnds(found, part) : await slice(found, part, offset ?? 0, limit);
  return { contents: [{ uri, mimeType: "text/plain", text, _meta: meta }] };
}

interface Reading {
  text: string;
  meta: Record<string, number>;
}

/** At most as large as a terminal can be. A session on pipes has no such resource. */
async function screenOf({ session, info }: Found, uri: string): Promise<string> {
  if (!info.pty) throw missing(uri);
  return truncateMiddle(screenText(await session.screen()), { maxBytes: MODEL_BYTES }).text;
}

const streamOf = (part: Log) => (part === "output" ? "merged" : part);

/** Bytes as they were written, from the one asked for on; `nextOffset` is where to go on. */
async function slice({ session }: Found, part: Log, offset: number, limit: number | null): Promise<Reading> {
  const most = Math.min(limit ?? MODEL_BYTES, MODEL_BYTES);
  const { text, nextOffset, totalBytes, droppedBytes } = await session.logs({
    stream: streamOf(part),
    offset,
    limit: most,
  });
  return { text, meta: facts({ nextOffset, totalBytes, droppedBytes }) };
}

/** The beginning and the end, with a line between that says how to get the rest. */
async function bothEnds({ session, address }: Found, part: Log): Promise<Reading> {
  const stream = streamOf(part);
  const half = MODEL_BYTES / 2;
  const head = await session.logs({ stream, offset: 0, limit: half });
  const tailFrom = Math.max(head.nextOffset, head.totalBytes - half);
  const tail = await session.logs({ stream, offset: tailFrom, limit: half });
  const { totalBytes } = tail;
  const shown = forModel(head.text + tail.text, {
    omittedAt: head.text.length,
    omittedBytes: Math.max(0, tailFrom - head.nextOffset) + head.droppedBytes + tail.droppedBytes,
    totalBytes,
    hint: `sallyport://session/${address.id}/${part}?offset=${head.nextOffset}`,
  });
  return { text: shown.text, meta: facts({ totalBytes, omittedBytes: shown.omittedBytes }) };
}

function facts(values: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [`sallyport/${name}`, value]));
}
