import { promisify } from "node:util";
import { crc32, deflate } from "node:zlib";
import type { Screen } from "../../contract/terminal.ts";
import { paint } from "./paint.ts";

const compress = promisify(deflate);

const SIGNATURE = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
const EIGHT_BITS = 8;
const TRUE_COLOUR = 2;

/**
 * The screen as a picture of pixels, for wherever text is of no use. Letters, lines and common signs are drawn by a font
 * of our own; other characters as a box with their number. Best with attributes.
 */
export async function screenPng(screen: Screen): Promise<Uint8Array> {
  const { width, height, pixels } = paint(screen);
  // Each row begins with how it is filtered: not at all, which suits flat colours.
  const rows = Buffer.alloc(height * (1 + width * 3));
  for (let row = 0; row < height; row++) {
    rows.set(pixels.subarray(row * width * 3, (row + 1) * width * 3), row * (1 + width * 3) + 1);
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([EIGHT_BITS, TRUE_COLOUR], 8);
  return Buffer.concat([
    SIGNATURE,
    chunk("IHDR", header),
    chunk("IDAT", await compress(rows)),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Uint8Array): Buffer {
  const bytes = Buffer.alloc(12 + data.length);
  bytes.writeUInt32BE(data.length, 0);
  bytes.write(type, 4, "latin1");
  bytes.set(data, 8);
  bytes.writeUInt32BE(crc32(bytes.subarray(4, 8 + data.length)), 8 + data.length);
  return bytes;
}
