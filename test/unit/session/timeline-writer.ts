import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Capture } from "../../../src/core/session.ts";

/** One read of the keeper: bytes of a stream, or the number of bytes lost, at a time (ms since the start). */
export interface Event {
  stream: 0 | 1;
  data?: string | Uint8Array;
  lost?: number;
  atMs?: number;
}

export interface Punched {
  startMs?: number;
  holes?: [[number, number], [number, number]];
  lost?: [number, number];
  blockHole?: [number, number];
}

export const RECORDS_PER_BLOCK = 508;
export const START_MS = 1_700_000_000_000;

export function headerBytes(punched: Punched = {}): Buffer {
  const header = Buffer.alloc(128);
  header.write("SPTL", 0, "latin1");
  header.writeUInt32LE(1, 4);
  header.writeBigUInt64LE(BigInt(punched.startMs ?? START_MS), 8);
  header.writeUInt32LE(2, 16);
  const holes = punched.holes ?? [
    [0, 0],
    [0, 0],
  ];
  for (const [stream, [start, end]] of holes.entries()) {
    header.writeBigUInt64LE(BigInt(start), 32 + stream * 24);
    header.writeBigUInt64LE(BigInt(end), 40 + stream * 24);
    header.writeBigUInt64LE(BigInt(punched.lost?.[stream] ?? 0), 48 + stream * 24);
  }
  header.writeBigUInt64LE(BigInt(punched.blockHole?.[0] ?? 0), 80);
  header.writeBigUInt64LE(BigInt(punched.blockHole?.[1] ?? 0), 88);
  return header;
}

/** Returns the blocks that the keeper would write: a simple second implementation of the format. */
export function blockBytes(events: readonly Event[]): Buffer {
  const offsets = [0, 0];
  const blocks: Buffer[] = [];
  for (let first = 0; first < events.length; first += RECORDS_PER_BLOCK) {
    const records = events.slice(first, first + RECORDS_PER_BLOCK);
    const base = records[0]?.atMs ?? 0;
    const block = Buffer.alloc(32 + records.length * 8);
    block.writeBigUInt64LE(BigInt(base), 0);
    block.writeBigUInt64LE(BigInt(offsets[0] ?? 0), 8);
    block.writeBigUInt64LE(BigInt(offsets[1] ?? 0), 16);
    for (const [index, { stream, data, lost, atMs }] of records.entries()) {
      const length = lost ?? Buffer.from(data ?? "").length;
      const kind = stream + (lost === undefined ? 0 : 2);
      block.writeUInt32LE((atMs ?? 0) - base, 32 + index * 8);
      block.writeUInt32LE(((kind << 30) | length) >>> 0, 36 + index * 8);
      if (lost === undefined) offsets[stream] = (offsets[stream] ?? 0) + length;
    }
    blocks.push(block);
  }
  return Buffer.concat(blocks);
}

export function streamBytes(events: readonly Event[], stream: 0 | 1): Buffer {
  return Buffer.concat(events.filter((event) => event.stream === stream).map((event) => Buffer.from(event.data ?? "")));
}

export function mergedBytes(events: readonly Event[]): Buffer {
  return Buffer.concat(events.map((event) => Buffer.from(event.data ?? "")));
}

/** Writes the log files of a session folder. Like the keeper, it creates no file for a stream without output. */
export function writeLog(folder: string, capture: Capture, events: readonly Event[], punched?: Punched): void {
  const names = capture === "merged" ? ["output"] : ["stdout", "stderr"];
  for (const [stream, name] of names.entries()) {
    const bytes = streamBytes(events, stream as 0 | 1);
    const [start, end] = punched?.holes?.[stream] ?? [0, 0];
    bytes.fill(0, start, end);
    if (bytes.length > 0) writeFileSync(join(folder, name), bytes);
  }
  const blocks = blockBytes(events);
  const [first, end] = punched?.blockHole ?? [0, 0];
  blocks.fill(0, first * 4096, end * 4096);
  if (events.length > 0) writeFileSync(join(folder, "timeline"), Buffer.concat([headerBytes(punched), blocks]));
}

/** Creates a session folder that is removed when the scope ends. */
export function temporaryFolder(): { path: string; [Symbol.dispose](): void } {
  const path = mkdtempSync(join(tmpdir(), "sallyport-logs-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}
