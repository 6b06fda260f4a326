import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";

const RECORD_BYTES = 4096;
const RECORDS_PER_BLOCK = 508;

/** Returns 1 MiB of lines of 64 bytes, all different. */
function megabyte(): Buffer {
  const lines = Array.from(
    { length: 16_384 },
    (_, index) => `line ${String(index).padStart(6, "0")} ${"x".repeat(51)}\n`,
  );
  return Buffer.from(lines.join(""));
}

/** Creates a session with `megabytes` of output that was written to two streams alternately, 4 KiB at a time. */
export function writeSession(folder: string, megabytes: number): void {
  const block = megabyte();
  const half = block.subarray(0, block.length / 2);
  for (const name of ["stdout", "stderr"]) {
    const fd = openSync(join(folder, name), "w");
    for (let written = 0; written < megabytes; written++) writeSync(fd, half);
    closeSync(fd);
  }
  const fd = openSync(join(folder, "timeline"), "w");
  writeSync(fd, timelineHeader());
  const records = (megabytes * block.length) / RECORD_BYTES;
  for (let first = 0; first < records; first += RECORDS_PER_BLOCK) {
    writeSync(fd, timelineBlock(first, Math.min(RECORDS_PER_BLOCK, records - first)));
  }
  closeSync(fd);
}

function timelineHeader(): Buffer {
  const header = Buffer.alloc(128);
  header.write("SPTL", 0, "latin1");
  header.writeUInt32LE(1, 4);
  header.writeBigUInt64LE(BigInt(Date.now()), 8);
  header.writeUInt32LE(2, 16);
  return header;
}

function timelineBlock(first: number, count: number): Buffer {
  const block = Buffer.alloc(32 + count * 8);
  block.writeBigUInt64LE(BigInt(first), 0);
  block.writeBigUInt64LE(BigInt(Math.ceil(first / 2) * RECORD_BYTES), 8);
  block.writeBigUInt64LE(BigInt(Math.floor(first / 2) * RECORD_BYTES), 16);
  for (let index = 0; index < count; index++) {
    block.writeUInt32LE(index, 32 + index * 8);
    block.writeUInt32LE(((((first + index) % 2) << 30) | RECORD_BYTES) >>> 0, 36 + index * 8);
  }
  return block;
}
