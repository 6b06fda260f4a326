import { styleText } from "node:util";
import type { LogChunk } from "../core/session.ts";
import type { Io } from "./command.ts";
import { type Style, timePrefix } from "./log-time.ts";
import { droppedNote } from "./notes.ts";

type Write = (chunk: LogChunk) => void;

/** How `logs` prints: each stream to its own, both to stdout, line by line with times, or for programs. */
export function logWriter(way: "apart" | "together" | "times" | "json", io: Io): Write {
  switch (way) {
    case "apart":
      return (chunk) => writeApart(chunk, io);
    case "together":
      return (chunk) => writeTogether(chunk, io);
    case "times":
      return timedWriter(io);
    case "json":
      return (chunk) => writeJson(chunk, io);
  }
}

const LINE_FEED = 10;
const RED = Buffer.from("\x1b[31m");
const UNCOLOURED = Buffer.from("\x1b[39m");

function writeApart(chunk: LogChunk, io: Io): void {
  noteGap(chunk, io);
  if (chunk.stream !== "stderr") io.out(chunk.bytes);
  else if (io.color && io.isTTY.stderr) io.err(Buffer.concat([RED, chunk.bytes, UNCOLOURED]));
  else io.err(chunk.bytes);
}

/** A line that one stream left unfinished is ended before the other goes on. */
function timedWriter(io: Io): Write {
  const style: Style = (how, text) => (io.color ? styleText(how, text, { validateStream: false }) : text);
  let unfinished: LogChunk["stream"] | null = null;
  return (chunk) => {
    if (unfinished !== null && (unfinished !== chunk.stream || chunk.dropped > 0)) {
      io.out("\n");
      unfinished = null;
    }
    noteGap(chunk, io);
    for (let at = 0; at < chunk.bytes.length; ) {
      const end = chunk.bytes.indexOf(LINE_FEED, at) + 1 || chunk.bytes.length;
      if (unfinished === null) io.out(timePrefix(chunk, { style, local: io.isTTY.stdout }));
      io.out(chunk.bytes.subarray(at, end));
      unfinished = chunk.bytes[end - 1] === LINE_FEED ? null : chunk.stream;
      at = end;
    }
  };
}

function writeTogether(chunk: LogChunk, io: Io): void {
  noteGap(chunk, io);
  io.out(chunk.bytes);
}

function noteGap(chunk: LogChunk, io: Io): void {
  if (chunk.dropped > 0) io.err(`${droppedNote(chunk)}\n`);
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function writeJson({ stream, offset, bytes, timeMs, dropped }: LogChunk, io: Io): void {
  const time = timeMs === null ? null : new Date(timeMs).toISOString();
  io.out(`${JSON.stringify({ stream, offset, time, ...content(bytes), dropped })}\n`);
}

/** Text where it is text; a piece that is not, or that splits a character, goes whole as base64. */
function content(bytes: Uint8Array): { text: string } | { base64: string } {
  try {
    return { text: utf8.decode(bytes) };
  } catch {
    return { base64: Buffer.from(bytes).toString("base64") };
  }
}
