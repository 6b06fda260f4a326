import assert from "node:assert/strict";
import { test } from "node:test";
import { crc32, inflateSync } from "node:zlib";
import { glyph } from "../../../src/present/screen/glyph.ts";
import { paletteColour } from "../../../src/present/screen/palette.ts";
import { screenPng } from "../../../src/present/screen/png.ts";
import { screenSvg } from "../../../src/present/screen/svg.ts";
import { screenAfter } from "./sample.ts";

const PLAIN = { bold: false, italic: false };

/** The pixels of a PNG, read by its published format. */
function decode(png: Uint8Array) {
  const bytes = Buffer.from(png);
  assert.equal(bytes.toString("latin1", 0, 8), "\x89PNG\r\n\x1a\n");
  const chunks = new Map<string, Buffer>();
  for (let at = 8; at < bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    assert.equal(bytes.readUInt32BE(at + 8 + length), crc32(bytes.subarray(at + 4, at + 8 + length)));
    chunks.set(bytes.toString("latin1", at + 4, at + 8), bytes.subarray(at + 8, at + 8 + length));
    at += 12 + length;
  }
  assert.deepEqual([...chunks.keys()], ["IHDR", "IDAT", "IEND"]);
  const header = chunks.get("IHDR") as Buffer;
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  assert.deepEqual([...header.subarray(8)], [8, 2, 0, 0, 0]);
  const rows = inflateSync(chunks.get("IDAT") as Buffer);
  assert.equal(rows.length, height * (1 + width * 3));
  return {
    width,
    height,
    pixel: (x: number, y: number) => [...rows.subarray(y * (1 + width * 3) + 1 + x * 3).subarray(0, 3)],
  };
}

test("a PNG has each cell in its place and colour", async () => {
  const screen = await screenAfter("\x1b[48;5;196m \x1b[0m\x1b[?25l\x1b[2;3H\x1b[38;2;0;255;0m█");
  const { width, height, pixel } = decode(await screenPng(screen));
  assert.deepEqual({ width, height }, { width: 40 * 10 + 20, height: 4 * 20 + 20 });
  const background = pixel(0, 0);
  assert.deepEqual(pixel(15, 20), [255, 0, 0]);
  assert.deepEqual(pixel(25, 20), background);
  assert.deepEqual(pixel(35, 40), [0, 255, 0]);
  assert.deepEqual(pixel(35, 20), background);
});

test("a huge screen makes no huge picture", async () => {
  const screen = await screenAfter("x", { columns: 1000, rows: 1000 });
  const { width, height } = decode(await screenPng(screen));
  assert.ok(width * height < 14_000_000, `${width} by ${height}`);
});

test("every letter looks different, at any size, and bold has more ink", () => {
  const ink = (text: string, style = PLAIN, width = 10, height = 20) => glyph(text, width, height, style).alpha;
  const sum = (alpha: Uint8Array) => alpha.reduce((total, each) => total + each, 0);
  const seen = new Map<string, string>();
  for (let code = 33; code < 127; code++) {
    const letter = String.fromCharCode(code);
    const drawn = Buffer.from(ink(letter)).toString("base64");
    assert.ok(sum(ink(letter)) > 500, letter);
    assert.equal(seen.get(drawn), undefined, `${letter} looks like ${seen.get(drawn)}`);
    seen.set(drawn, letter);
    assert.ok(sum(ink(letter, { bold: true, italic: false })) > sum(ink(letter)), letter);
    assert.ok(sum(ink(letter, PLAIN, 3, 6)) > 0, letter);
  }
  assert.equal(sum(ink(" ")), 0);
  assert.notDeepEqual(ink("é"), ink("e"));
  assert.notDeepEqual(ink("日", PLAIN, 20), ink("本", PLAIN, 20));
});

test("lines of boxes meet at the edges of their cells", () => {
  const at = (text: string, x: number, y: number) => glyph(text, 10, 20, PLAIN).alpha[y * 10 + x];
  for (const y of [0, 19]) assert.equal(at("│", 4, y), at("┼", 4, y));
  assert.equal(at("│", 4, 0), 255);
  for (const x of [0, 9]) assert.equal(at("─", x, 9), 255);
  assert.equal(at("┌", 4, 0), 0);
  assert.equal(at("┌", 4, 19), 255);
  assert.equal(at("┌", 9, 9), 255);
  assert.equal(at("┌", 0, 9), 0);
});

test("the palette is that of 256 colours", () => {
  assert.deepEqual(paletteColour(16), [0, 0, 0]);
  assert.deepEqual(paletteColour(196), [255, 0, 0]);
  assert.deepEqual(paletteColour(231), [255, 255, 255]);
  assert.deepEqual(paletteColour(244), [128, 128, 128]);
});

test("an SVG holds the text, and nothing that is not text", async () => {
  const screen = await screenAfter('<script>&"\r\n\x1b[1;3;4;9;7mstyled\x1b[0m 日\x1b]2;</title><script>\x07');
  const svg = screenSvg(screen);
  assert.ok(svg.includes("&lt;script&gt;&amp;&quot;"));
  assert.ok(svg.includes("<title>&lt;/title&gt;&lt;script&gt;</title>"));
  assert.ok(!svg.includes("<script>"));
  assert.match(svg, /font-weight="bold" font-style="italic" text-decoration="underline line-through">styled</);
  assert.match(svg, /textLength="18"[^>]*>日</);
  assert.match(svg, /^<svg xmlns="http:\/\/www.w3.org\/2000\/svg" width="378" height="90"/);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what XML does not allow
  assert.doesNotMatch(svg, /[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/);
  const plain = screenSvg({ ...screen, attributes: undefined, lines: ["a\ufffe\ud800b"] });
  assert.ok(plain.includes("a\ufffd\ufffdb"));
});
