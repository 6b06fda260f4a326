import assert from "node:assert/strict";
import { test } from "node:test";
import { screenSvg } from "../../../../src/session/terminal/render/svg.ts";
import { screenAfter } from "../../../fixtures/test-terminal.ts";

test("uses the 256-color palette", async () => {
  const colors: [index: number, fill: string][] = [
    [16, "#000000"],
    [196, "#ff0000"],
    [231, "#ffffff"],
    [244, "#808080"],
  ];
  for (const [index, fill] of colors) {
    assert.ok(screenSvg(await screenAfter(`\x1b[38;5;${index}mtext`)).includes(`fill="${fill}">text`), `${index}`);
  }
});

test("an SVG contains the text, escaped", async () => {
  const screen = await screenAfter('<script>&"\r\n\x1b[1;3;4;9;7mstyled\x1b[0m 日\x1b]2;</title><script>\x07');
  const svg = screenSvg(screen);
  assert.ok(svg.includes("&lt;script&gt;&amp;&quot;"));
  assert.ok(svg.includes("<title>&lt;/title&gt;&lt;script&gt;</title>"));
  assert.ok(!svg.includes("<script>"));
  assert.match(svg, /font-weight="bold" font-style="italic" text-decoration="underline line-through">styled</);
  assert.match(svg, /textLength="18"[^>]*>日</);
  assert.match(svg, /^<svg xmlns="http:\/\/www.w3.org\/2000\/svg" width="378" height="90"/);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: characters that XML forbids
  assert.doesNotMatch(svg, /[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/);
  const plain = screenSvg({ ...screen, attributes: undefined, lines: ["a\ufffe\ud800b"] });
  assert.ok(plain.includes("a\ufffd\ufffdb"));
});
