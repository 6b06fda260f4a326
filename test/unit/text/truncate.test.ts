import assert from "node:assert/strict";
import { test } from "node:test";
import { truncateMiddle } from "../../../src/text/truncate.ts";
import { randomText, seeded } from "../../fixtures/seeded.ts";
import { cpuMs } from "./cpu-time.ts";

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join("");
const lines = (text: string) => text.split("\n").length - (text.endsWith("\n") ? 1 : 0);

test("returns a text that fits unchanged", () => {
  for (const text of ["", "a", "a\nb\n", "\n\n\n", "é€😀"]) {
    const bytes = Buffer.byteLength(text);
    assert.deepEqual(truncateMiddle(text, { maxBytes: bytes }), { text, omittedBytes: 0, omittedLines: 0 });
  }
  const three = { text: "a\nb\nc", omittedBytes: 0, omittedLines: 0 };
  assert.deepEqual(truncateMiddle("a\nb\nc", { maxBytes: 5, maxLines: 3 }), three);
});

test("omits the middle between lines, with counts and a hint", () => {
  const cut = truncateMiddle(numbered(1000), { maxBytes: 120, hint: "`sallyport logs calm-otter`" });
  assert.deepEqual(cut, {
    text: [
      "line 1",
      "line 2",
      "[… 996 lines (8,860 bytes) left out; read them with `sallyport logs calm-otter`]",
      "line 999",
      "line 1000",
      "",
    ].join("\n"),
    omittedBytes: 8860,
    omittedLines: 996,
  });
});

test("the marker counts lines or bytes, in singular or plural", () => {
  const cases: [string, Parameters<typeof truncateMiddle>[1], string][] = [
    [
      `${"a\n".repeat(9)}${"b".repeat(80)}\n${"c\n".repeat(9)}`,
      { maxBytes: 79, maxLines: 19 },
      `${"a\n".repeat(9)}[… 1 line (81 bytes) left out]\n${"c\n".repeat(9)}`,
    ],
    [
      `${"a\n".repeat(9)}${"b".repeat(80)}\n${"c\n".repeat(9)}`,
      { maxBytes: 97, maxLines: 19, hint: "cat" },
      `${"a\n".repeat(9)}[… 1 line (81 bytes) left out; read it with cat]\n${"c\n".repeat(9)}`,
    ],
    [`a\n${"b".repeat(80)}\nc\n`, { maxBytes: 60 }, "a\nbbbbbbbbbb\n[… 60 bytes left out]\nbbbbbbbbbb\nc\n"],
    ["x".repeat(200), { maxBytes: 46 }, "xxxxx\n[… 189 bytes left out]\nxxxxxx"],
    [numbered(100), { maxBytes: 1000, maxLines: 3 }, "line 1\n[… 98 lines (776 bytes) left out]\nline 100\n"],
    [
      numbered(100),
      { maxBytes: 1000, maxLines: 3, headShare: 0 },
      "[… 98 lines (775 bytes) left out]\nline 99\nline 100\n",
    ],
    [numbered(100), { maxBytes: 1000, maxLines: 3, headShare: 1 }, "line 1\nline 2\n[… 98 lines (778 bytes) left out]"],
    [numbered(100), { maxBytes: 1000, maxLines: 1 }, "[… 100 lines (792 bytes) left out]"],
  ];
  for (const [text, options, expected] of cases) assert.equal(truncateMiddle(text, options).text, expected);
});

test("cuts within a very long line, between characters", () => {
  const { text, omittedBytes, omittedLines } = truncateMiddle("😀".repeat(10_000), { maxBytes: 100 });
  assert.match(text, /^(😀)+\n\[… 39,9\d\d bytes left out\]\n(😀)+$/u);
  assert.equal(omittedBytes + (text.match(/😀/gu)?.length ?? 0) * 4, 40_000);
  assert.equal(omittedLines, 0);
});

test("omits the hint or the whole text if there is no space for the marker", () => {
  const text = numbered(100);
  const short = truncateMiddle(text, { maxBytes: 42, hint: "x".repeat(80) });
  assert.equal(short.text, "line 1\n[… 776 bytes left out]\nline 100\n");
  assert.deepEqual(truncateMiddle(text, { maxBytes: 10 }), { text: "", omittedBytes: 792, omittedLines: 100 });
});

test("counts bytes that were already missing, and marks their position", () => {
  const head = "a1\na2\na3\n";
  const tail = "z1\nz2\n";
  const options = { omittedAt: head.length, omittedBytes: 5000 };
  assert.deepEqual(truncateMiddle(head + tail, { maxBytes: 1000, ...options }), {
    text: "a1\na2\na3\n[… 5,000 bytes left out]\nz1\nz2\n",
    omittedBytes: 5000,
    omittedLines: null,
  });
  // Lines that were cut are omitted completely if that loses little.
  const torn = { omittedAt: 11, omittedBytes: 5000 };
  assert.equal(
    truncateMiddle("a1\na2\na3\ntorn\nz1\nz2\n", { maxBytes: 1000, ...torn }).text,
    "a1\na2\na3\n[… 5,005 bytes left out]\nz1\nz2\n",
  );
  const cut = truncateMiddle(numbered(1000), { maxBytes: 90, omittedAt: 4000, omittedBytes: 1_000_000, hint: "cat" });
  assert.equal(cut.text, "line 1\nline 2\n[… 1,008,860 bytes left out; read them with cat]\nline 999\nline 1000\n");
});

test("never exceeds the limits, and the counts add up", () => {
  const next = seeded(4);
  const parts = ["a", "bc", "é", "€", "😀", "\n", "\n", "long words in a line", "\ud83d", "\t"];
  for (let round = 0; round < 3000; round++) {
    const text = randomText(next, parts, next(120));
    const bytes = Buffer.byteLength(text);
    const maxBytes = next(bytes + 40);
    const maxLines = next(3) === 0 ? 1 + next(12) : undefined;
    const gap =
      next(3) === 0 ? { omittedAt: safeIndex(text, next(text.length + 1)), omittedBytes: 1 + next(9999) } : {};
    const options = { maxBytes, maxLines, headShare: next(5) / 4, hint: next(2) === 0 ? "cat" : undefined, ...gap };
    const told = `${JSON.stringify(text)} ${JSON.stringify(options)}`;
    const cut = truncateMiddle(text, options);
    assert.ok(Buffer.byteLength(cut.text) <= maxBytes, told);
    if (maxLines !== undefined && cut.text !== "") assert.ok(lines(cut.text) <= maxLines, told);
    const [whole, head = "", tail = ""] = /^([\s\S]*?)\n?\[… [^\n]*\]\n?([\s\S]*)$/.exec(cut.text) ?? [];
    if (whole === undefined) {
      assert.ok(cut.text === text || cut.text === "", told);
      continue;
    }
    assert.ok(text.startsWith(head) && text.endsWith(tail), told);
    assert.ok(head.isWellFormed() || !text.isWellFormed(), told);
    assert.ok(tail.isWellFormed() || !text.isWellFormed(), told);
    // The regular expression may have matched the line feed that belongs to the head.
    const kept = Buffer.byteLength(head) + Buffer.byteLength(tail);
    const total = bytes + (gap.omittedBytes ?? 0);
    assert.ok([total - kept, total - kept - 1].includes(cut.omittedBytes), told);
  }
});

function safeIndex(text: string, index: number): number {
  return /[\udc00-\udfff]/.test(text[index] ?? "") ? index - 1 : index;
}

test("truncates ten megabytes quickly, with one line or a million", () => {
  for (const text of ["x".repeat(10 << 20), "x\n".repeat(5 << 20), "\n".repeat(10 << 20), "€".repeat(4 << 20)]) {
    let cut = "";
    const took = cpuMs(() => {
      cut = truncateMiddle(text, { maxBytes: 100 << 10, maxLines: 2000, hint: "cat" }).text;
    });
    assert.ok(took < 1500, `${Math.round(took)} ms`);
    assert.ok(Buffer.byteLength(cut) <= 100 << 10);
  }
});
