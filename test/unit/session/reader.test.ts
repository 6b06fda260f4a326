import assert from "node:assert/strict";
import { test } from "node:test";
import type { Capture, SessionInfo } from "../../../src/core/session.ts";
import { type OutputSource, readEnds, readLastLines, readLines, readPage } from "../../../src/session/logs/reader.ts";
import { terminalText } from "../../../src/text/terminal/terminal-text.ts";
import { randomText, seeded } from "../../fixtures/seeded.ts";
import { dataIn } from "./session-data.ts";
import { type Event, mergedBytes, type Punched, temporaryFolder, writeLog } from "./timeline-writer.ts";

/** Returns the output of a session whose files a test wrote. */
function sourceIn(
  folder: string,
  { live = false, capture = "merged" }: { live?: boolean; capture?: Capture } = {},
): OutputSource {
  const data = dataIn(folder, capture);
  const info = () =>
    ({ status: live ? "running" : "completed", lingering: false, streams: data.streams() }) as SessionInfo;
  return { info, logs: (query) => data.logs(query, live) };
}

const one = (data: string | Uint8Array): Event[] => [{ stream: 0, data }];

const PARTS = [
  "\u001b[31m",
  "\u001b]0;title\u0007",
  "\r\n",
  "word ",
  "\n",
  "\0",
  "é",
  "😀",
  "\u0001",
  "\u202e",
  "a long line of words ",
];

test("no answer exceeds its limit, and pages lose and repeat nothing", async () => {
  const next = seeded(11);
  for (let round = 0; round < 300; round++) {
    using folder = temporaryFolder();
    const output = randomText(next, PARTS, 1 + next(200));
    writeLog(folder.path, "merged", one(output));
    const maxBytes = 700 + next(300);
    const source = sourceIn(folder.path);
    let pages = "";
    for (let offset = 0, more = true; more; ) {
      const page = await readPage(source, { offset, maxBytes });
      assert.ok(Buffer.byteLength(page.text) <= maxBytes, JSON.stringify(output));
      assert.ok(page.unread === 0 || page.next > offset);
      pages += page.text;
      more = page.unread > 0;
      offset = page.next;
    }
    // Control characters act only within a page, and pages end after lines.
    assert.equal(pages, terminalText(output), JSON.stringify(output));
    const hint = "the log";
    for (const text of [
      (await readEnds(source, { maxBytes, hint })).text,
      await readLastLines(source, { lines: next(20), maxBytes, hint }),
      (await readLines(source, { offset: next(10) - 5, limit: 1 + next(50), maxBytes })).text,
    ]) {
      assert.ok(Buffer.byteLength(text) <= maxBytes, `${maxBytes} ${JSON.stringify(output)}`);
    }
  }
});

test("the ends of an output and what is left out between them add up", async () => {
  using folder = temporaryFolder();
  const lines = Array.from({ length: 2000 }, (_, index) => `${String(index).padStart(7, "0")}\n`).join("");
  writeLog(folder.path, "merged", one(lines));
  const { text, omittedBytes, total } = await readEnds(sourceIn(folder.path), { maxBytes: 2000, hint: "the log" });
  const [head = "", mark = "", tail = ""] = text.split(/(\[….*\]\n)/);
  assert.equal(mark, `[… ${omittedBytes.toLocaleString("en-US")} bytes left out; read them with the log]\n`);
  assert.ok(lines.startsWith(head) && lines.endsWith(tail) && head.endsWith("\n") && /^\d{7}\n/.test(tail));
  assert.deepEqual([head.length + tail.length + omittedBytes, total], [lines.length, lines.length]);
});

const HOLED: Punched = {
  holes: [
    [800, 7200],
    [0, 0],
  ],
};

test("says why bytes are missing", async () => {
  const events = Array.from({ length: 1000 }, (_, index) => ({
    stream: 0 as const,
    data: `${String(index).padStart(7, "0")}\n`,
  }));
  const cases: [Event[], Punched, string][] = [
    [events, HOLED, "[... 6,400 bytes were dropped: over the limit of this stream ...]"],
    [
      [...one("a\n"), { stream: 0, lost: 5 }, ...one("b\n")],
      { lost: [5, 0] },
      "[... 5 bytes were dropped: not written because the disk was full ...]",
    ],
    [
      [...one("a\n"), { stream: 0, lost: 1 }],
      { lost: [1, 0] },
      "[... 1 byte was dropped: not written because the disk was full ...]",
    ],
  ];
  for (const [written, punched, mark] of cases) {
    using folder = temporaryFolder();
    writeLog(folder.path, "merged", written, punched);
    const page = await readPage(sourceIn(folder.path), { offset: 0, maxBytes: 100_000 });
    assert.ok(page.text.split("\n").includes(mark), page.text.slice(0, 300));
    const again = await readPage(sourceIn(folder.path), { offset: page.next, maxBytes: 100_000 });
    assert.deepEqual([again.text, again.unread], ["", 0]);
    const filtered = await readPage(sourceIn(folder.path), { offset: 0, maxBytes: 100_000, filter: "^never$" });
    assert.equal(filtered.text, `${mark}\n`);
  }
});

const GONE = /^\[\.\.\. ([\d,]+) bytes? (?:was|were) dropped: .*\n/gm;
const LEFT = /^\[… ([\d,]+) bytes? left out; .*\n/gm;

/** Returns the sum of the numbers in the marks of a text. */
function marked(text: string, mark: RegExp): number {
  return [...text.matchAll(mark)].reduce((sum, [, count = ""]) => sum + Number(count.replaceAll(",", "")), 0);
}

test("pages, lines and ends count each missing byte once", async () => {
  const next = seeded(5);
  for (let round = 0; round < 60; round++) {
    using folder = temporaryFolder();
    const capture = round % 2 === 0 ? "merged" : "apart";
    const events: Event[] = [];
    const lost: [number, number] = [0, 0];
    const size: [number, number] = [0, 0];
    for (let count = 20 + next(40); count > 0; count--) {
      const stream = capture === "merged" ? 0 : (next(2) as 0 | 1);
      const data = randomText(next, ["word ", "\n", "0123456789\n", "é"], 1 + next(40));
      const isLost = next(20) === 0;
      events.push(isLost ? { stream, lost: data.length } : { stream, data });
      (isLost ? lost : size)[stream] += isLost ? data.length : Buffer.byteLength(data);
    }
    const holes = size.map((bytes) => [Math.floor(bytes / 3), next(2) * Math.floor(bytes / 2)]) as [
      [number, number],
      [number, number],
    ];
    for (const hole of holes) hole[1] = Math.max(...hole);
    writeLog(folder.path, capture, events, { holes, lost });
    const source = sourceIn(folder.path, { capture });
    const maxBytes = 700 + next(500);

    for (const stream of capture === "merged" ? (["merged"] as const) : (["stdout", "stderr"] as const)) {
      const index = stream === "stderr" ? 1 : 0;
      const hole = holes[index][1] - holes[index][0];
      const missing = hole + lost[index];
      for (const filter of [undefined, "^never$"]) {
        let [gone, dropped] = [0, 0];
        for (let offset = 0, more = true; more; ) {
          const page = await readPage(source, { stream, offset, maxBytes, filter });
          gone += marked(page.text, GONE);
          dropped += page.droppedBytes;
          more = page.unread > 0;
          offset = page.next;
        }
        assert.deepEqual([gone, dropped], [missing, missing]);
      }
      const ends = await readEnds(source, { stream, maxBytes, hint: "the log" });
      const left = marked(ends.text, LEFT);
      assert.deepEqual([marked(ends.text, GONE), ends.omittedBytes], [missing, missing + left]);
      // A line feed is added where a mark follows an incomplete line.
      const added = Buffer.byteLength(ends.text.replace(GONE, "").replace(LEFT, "")) + left + hole - size[index];
      assert.ok(added >= 0 && added <= 4, `${added}`);
    }

    let gone = 0;
    for (let offset = 0, more = true; more; ) {
      const lines = await readLines(source, { offset, limit: 1 + next(30), maxBytes });
      gone += marked(lines.text, GONE);
      more = lines.next < lines.total;
      offset = lines.next;
    }
    const holeBytes = holes.reduce((sum, [start, end]) => sum + end - start, 0);
    assert.equal(gone, holeBytes + lost[0] + lost[1]);
  }
});

test("dropped bytes are not announced as unread", async () => {
  using folder = temporaryFolder();
  const events = one(mergedBytes(one("1234567\n".repeat(1000))));
  writeLog(folder.path, "merged", events, HOLED);
  const page = await readPage(sourceIn(folder.path), { offset: 0, maxBytes: 400 });
  assert.deepEqual([page.next, page.unread], [400, 8000 - 400 - 6400]);
});

test("holds back what is incomplete while the command runs, and shows it when it has ended", async () => {
  const cases: [output: Buffer, shown: string, all: string][] = [
    [Buffer.from("a\nb"), "a\nb", "a\nb"],
    [Buffer.from("ok \u001b[3"), "ok ", "ok "],
    [Buffer.from("ok \u001b]0;a title"), "ok ", "ok "],
    [Buffer.concat([Buffer.from("ok "), Buffer.from("✓").subarray(0, 2)]), "ok ", "ok �"],
  ];
  for (const [output, shown, all] of cases) {
    using folder = temporaryFolder();
    writeLog(folder.path, "merged", one(output));
    const live = await readPage(sourceIn(folder.path, { live: true }), { offset: 0, maxBytes: 1000 });
    assert.deepEqual([live.text, live.unread], [shown, 0]);
    assert.equal((await readPage(sourceIn(folder.path), { offset: 0, maxBytes: 1000 })).text, all);
  }
});
