import { randomFillSync } from "node:crypto";
import { closeSync, fstatSync, openSync, readSync } from "node:fs";

/** Hex of every byte: a lookup is several times faster than padStart on each. */
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** Lower case only: an id is also the name of a folder, so it must have exactly one spelling. */
const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const LAST_COUNT = 0xfff;

/** Random bytes are drawn ahead: one call into the kernel's generator serves 512 ids. */
const pool = new Uint8Array(4096);
let used = pool.length;

let lastMs = 0;
let count = 0;

function drawRandom(length: number): number {
  if (used + length > pool.length) {
    if (!isFirst || !fillFromKernel(pool)) randomFillSync(pool);
    isFirst = false;
    used = 0;
  }
  used += length;
  return used - length;
}

let isFirst = true;
/** Linux's number for /dev/urandom: 1, 9. */
const URANDOM = 0x109;

/** The same source, without `node:crypto`, whose loading takes longer than all else about a first id. */
function fillFromKernel(bytes: Uint8Array): boolean {
  let fd: number | null = null;
  try {
    fd = openSync("/dev/urandom", "r");
    const status = fstatSync(fd);
    // Only the device itself will do: anything can be put in its place.
    if (!status.isCharacterDevice() || status.rdev !== URANDOM) return false;
    return readSync(fd, bytes) === bytes.length;
  } catch {
    return false;
  } finally {
    if (fd !== null) closeSync(fd);
  }
}

/**
 * A new UUIDv7 (RFC 9562): 48 bits of time, a 12-bit count, 62 random bits.
 * Each is greater than the one before, within this process, also when the clock is set back.
 */
export function newId(nowMs: number = Date.now()): string {
  const at = drawRandom(10);
  if (nowMs > lastMs) {
    lastMs = nowMs;
    // Starts in the lower half, so that at least 2048 ids of one millisecond stay in order without a step ahead.
    count = (((pool[at + 8] as number) << 8) | (pool[at + 9] as number)) & 0x7ff;
  } else if (count < LAST_COUNT) {
    count++;
  } else {
    lastMs++;
    count = 0;
  }
  const high = Math.floor(lastMs / 0x10000);
  const byte = (value: number) => HEX[value & 0xff] as string;
  const random = (index: number) => HEX[pool[at + index] as number] as string;
  const variant = HEX[0x80 | ((pool[at] as number) & 0x3f)] as string;
  return `${byte(high >>> 24)}${byte(high >>> 16)}${byte(high >>> 8)}${byte(high)}-${byte(lastMs >>> 8)}${byte(lastMs)}-${byte(0x70 | (count >>> 8))}${byte(count)}-${variant}${random(1)}-${random(2)}${random(3)}${random(4)}${random(5)}${random(6)}${random(7)}`;
}

/** Whether `text` is a whole id as `newId` writes it. Nothing else may become a folder's name. */
export function isId(text: string): boolean {
  return UUID_V7.test(text);
}
