import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { deflateRawSync, gzipSync, zstdCompressSync } from "node:zlib";
import { binaryKind } from "../../../src/text/binary.ts";
import { seeded } from "../../fixtures/seeded.ts";

const next = seeded(3);
const noise = Buffer.from(Array.from({ length: 4000 }, () => next(256)));
const after = (magic: string) => Buffer.concat([Buffer.from(magic, "latin1"), noise]);
const tar = Buffer.alloc(10_240);
tar.write("hello.txt");
tar.write("ustar\u000000", 257);

test("recognizes formats by magic numbers, in bytes and in decoded text", () => {
  const kinds: [name: string, bytes: Buffer, inText?: string | null][] = [
    ["PNG image", after("\x89PNG\r\n\x1a\n\0\0\0\rIHDR")],
    ["JPEG image", after("\xff\xd8\xff\xe0\0\x10JFIF\0\x01")],
    ["JPEG image", after("\xff\xd8\xff\xdb"), null],
    ["GIF image", after("GIF89a\x01\0\x01\0")],
    ["PDF document", after("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")],
    ["zip archive", Buffer.concat([Buffer.from("PK\u0003\u0004"), deflateRawSync(noise)])],
    ["gzip data", gzipSync(noise)],
    ["xz data", after("\xfd7zXZ\0\0\x04")],
    ["zstd data", zstdCompressSync(noise)],
    ["bzip2 data", after("BZh91AY&SY")],
    ["ELF program or library", readFileSync("/proc/self/exe").subarray(0, 8192)],
    ["SQLite database", after("SQLite format 3\0")],
    ["WebAssembly module", after("\0asm\x01\0\0\0")],
    ["tar archive", tar],
    ["MP4 video", after("\0\0\0\x20ftypisom")],
    ["Ogg media", after("OggS\0\x02")],
    ["WebP image", after("RIFF\x24\0\0\0WEBPVP8 ")],
    ["UTF-16 text", Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from("text\n", "utf16le")]), null],
  ];
  for (const [name, bytes, inText = name] of kinds) {
    assert.deepEqual(binaryKind(bytes), { name });
    assert.deepEqual(binaryKind(bytes.toString("utf8")), { name: inText }, name);
  }
});

test("recognizes unknown binary data by its content", () => {
  assert.deepEqual(binaryKind(noise), { name: null });
  assert.deepEqual(binaryKind(noise.toString("utf8")), { name: null });
  assert.deepEqual(binaryKind(Buffer.alloc(100)), { name: null });
  assert.deepEqual(binaryKind(Buffer.from("wide text\n", "utf16le")), { name: null });
});

test("does not treat text as binary", () => {
  const texts = [
    "",
    "x",
    "plain\n".repeat(1000),
    "naïve €😀 ✓\n",
    "\u001b[31mred\u001b[0m\r\u001b[K\u001b]0;t\u0007\n".repeat(100),
    "one name\0another name\0a third\0",
    "HOME=/root\0PATH=/usr/bin\0",
    "mostly text with one bad byte \ufffd in it, as Latin-1 gives",
    "%PDF- is how a PDF begins",
    "GIF89a is how a GIF begins",
    "MZ",
    "10%\b\b\b20%\b\b\b".repeat(20),
  ];
  for (const text of texts) {
    assert.equal(binaryKind(text), null, text.slice(0, 40));
    assert.equal(binaryKind(Buffer.from(text)), null, text.slice(0, 40));
  }
});
