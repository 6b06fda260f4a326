import { randomFillSync } from "node:crypto";
import { closeSync, fstatSync, openSync, readSync } from "node:fs";

/** The hex digits of every byte. A lookup is several times faster than `padStart`. */
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** Lowercase only: an ID is also a folder name, so it must have exactly one spelling. */
const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const LAST_COUNT = 0xfff;

/** Random bytes fetched in advance: one call to the kernel's generator serves about 400 IDs. */
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
/** The device number of /dev/urandom on Linux: major 1, minor 9. */
const URANDOM = 0x109;

/**
 * Fills `bytes` from the kernel without `node:crypto`, which takes longer to load than it takes to create the first ID
 * without it.
 */
function fillFromKernel(bytes: Uint8Array): boolean {
  let fd: number | null = null;
  try {
    fd = openSync("/dev/urandom", "r");
    const status = fstatSync(fd);
    // Another file may have been put in place of the device.
    if (!status.isCharacterDevice() || status.rdev !== URANDOM) return false;
    return readSync(fd, bytes) === bytes.length;
  } catch {
    return false;
  } finally {
    if (fd !== null) closeSync(fd);
  }
}

/**
 * Returns a new UUIDv7 (RFC 9562): 48 bits of time, a 12-bit counter and 62 random bits. Within this process each ID is
 * greater than the previous one, even if the clock is set back.
 */
export function newId(nowMs: number = Date.now()): string {
  const at = drawRandom(10);
  if (nowMs > lastMs) {
    lastMs = nowMs;
    // Starts in the lower half, so that at least 2048 IDs of one millisecond fit before the time has to be advanced.
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

/** Returns when an ID was created, in milliseconds since the epoch. */
export function idTime(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

/** Reports whether `text` is a complete ID. Only such texts may be used as folder names. */
export function isId(text: string): boolean {
  return UUID_V7.test(text);
}
