import assert from "node:assert/strict";
import { after, test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { approvalLines, approvalText } from "../../../src/approval/render.ts";
import { shownLine, shownText } from "../../../src/text/visible.ts";
import { displayWidth } from "../../../src/text/width.ts";
import { ApprovalFixture } from "../../fixtures/approvals.ts";

const fixture = new ApprovalFixture();
after(() => fixture.remove());

/** The text of a command, and the text shown to the approver. */
const DECEPTIVE: [name: string, text: string, shown: string][] = [
  ["plain text is unchanged", "git log --oneline | head -5", "git log --oneline | head -5"],
  [
    "accents, emoji and other scripts are unchanged",
    "echo 'é 日本abc 😀 привет λ don’t …'",
    "echo 'é 日本abc 😀 привет λ don’t …'",
  ],
  ["letters that are written from right to left", "rm \u05d0.txt", "rm ‹U+05D0›.txt"],
  ["Arabic letters and digits", "ls \u0645\u0663", "ls ‹U+0645›‹U+0663›"],
  ["a Cyrillic letter in a Latin word", "g\u0456t push", "g‹U+0456›t push"],
  ["a Greek letter in a host name", "curl https://\u03bfpenai.com", "curl https://‹U+03BF›penai.com"],
  ["a word of Cyrillic letters that look Latin", "\u0441\u0440 x", "‹U+0441›‹U+0440› x"],
  ["fullwidth letters", "\uff52\uff4d x", "‹U+FF52›‹U+FF4D› x"],
  ["mathematical letters", "\u{1d42b}m x", "‹U+1D42B›m x"],
  ["a dotless i", "g\u0131t", "g‹U+0131›t"],
  ["a hyphen that is not ASCII", "rm \u2010rf x", "rm ‹U+2010›rf x"],
  ["a dash that looks like an option", "rm \u2013rf x", "rm ‹U+2013›rf x"],
  ["a slash that is not ASCII", "ls a\u2215b", "ls a‹U+2215›b"],
  ["a semicolon that is not ASCII", "ls\u037e ls", "ls‹U+037E› ls"],
  ["typographic quotation marks", "rm \u201ca b\u201d", "rm ‹U+201C›a b‹U+201D›"],
  ["right-to-left override", "rm \u202e/ fr- nohtyp", "rm ‹U+202E›/ fr- nohtyp"],
  ["isolates", "a\u2066b\u2069c", "a‹U+2066›b‹U+2069›c"],
  ["zero width space and joiner", "r\u200bm\u200d x", "r‹U+200B›m‹U+200D› x"],
  ["byte order mark", "\ufeffls", "‹U+FEFF›ls"],
  ["tag characters", "ls\u{e0041}\u{e0042}", "ls‹U+E0041›‹U+E0042›"],
  ["variation selectors", "ls\ufe0f\u{e0101}", "ls‹U+FE0F›‹U+E0101›"],
  ["a carriage return that would overwrite the line", "rm -rf x\recho harmless", "rm -rf x‹return›echo harmless"],
  ["escape sequences", "echo \u001b[2K\u001b[1Aok", "echo ‹escape›[2K‹escape›[1Aok"],
  ["C1 control", "echo \u009b2K", "echo ‹U+009B›2K"],
  ["backspaces", "rm x\b\b\b\bls", "rm x‹4 × U+0008›ls"],
  ["NUL", "ls\0rm", "ls‹NUL›rm"],
  ["tabs that push the rest off the screen", `ls${"\t".repeat(500)}; rm -rf ~`, "ls‹500 × tab›; rm -rf ~"],
  ["spaces that push the rest off the screen", `ls${" ".repeat(5000)}; rm -rf ~`, "ls‹5000 spaces›; rm -rf ~"],
  ["line breaks that push the rest off the screen", `ls${"\n".repeat(200)}rm -rf ~`, "ls‹200 line breaks›rm -rf ~"],
  ["blank lines with spaces", `ls${"  \n".repeat(50)}rm`, "ls‹50 line breaks›rm"],
  [
    "a few line breaks and spaces are unchanged",
    "for f in *; do\n    ls $f\n\ndone",
    "for f in *; do\n    ls $f\n\ndone",
  ],
  ["no-break spaces", "rm\u00a0-rf", "rm‹no-break space›-rf"],
  ["unusual space characters", "a\u3000b\u2003c\u2800d\u3164e", "a‹U+3000›b‹U+2003›c‹U+2800›d‹U+3164›e"],
  ["line and paragraph separators", "a\u2028b\u2029c", "a‹U+2028›b‹U+2029›c"],
  ["an unpaired surrogate", "a\ud800b", "a‹U+D800›b"],
  ["private use characters", "a\ue000b", "a‹U+E000›b"],
  ["stacked combining marks", "a\u0300\u0301\u0302\u0303b", "a‹4 combining marks›b"],
];

for (const [name, text, expected] of DECEPTIVE) {
  test(name, () => {
    const found = shownText(text);
    assert.equal(found.text, expected);
    for (const { start, end } of found.marks) assert.match(found.text.slice(start, end), /^‹[^›]+›$/);
    assert.equal(found.marks.length, (expected.match(/‹/g) ?? []).length);
  });
}

test("removes all terminal control characters from any text", () => {
  const all = Array.from({ length: 0x11000 }, (_, code) => String.fromCodePoint(code)).join("x");
  assert.doesNotMatch(shownText(all).text, /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
  assert.doesNotMatch(shownLine(all), /\n/);
});

test("locates a span after escaped characters", () => {
  const text = `echo \u200b\u200b${"\t".repeat(30)}; rm -rf ~ \u202e`;
  const start = text.indexOf("rm -rf");
  const found = shownText(text);
  const place = found.locate({ start, end: start + 8 });
  assert.equal(found.text.slice(place.start, place.end), "rm -rf ~");
  const inside = found.locate({ start: 6, end: 7 });
  assert.equal(
    found.text.slice(inside.start, inside.end),
    "‹2 × U+200B›",
    "a span inside an escaped run covers the whole run",
  );
});

test("stores and prints a command of 100 KB without truncation", () => {
  const command = `echo ${"a".repeat(50_000)} $(rm -rf ~/hidden) ${"b".repeat(50_000)}`;
  const approval = fixture.approvals().request(fixture.asked({ command }));
  assert.equal(approval.request.command.text, command);
  for (const columns of [40, 80, 200]) {
    const text = approvalText(approval, { color: false, columns, nowMs: Date.now() });
    const rows = text.split("\n").filter((line) => /^[│┆] /.test(line));
    assert.equal(rows.map((line) => line.slice(2)).join(""), command);
    assert.ok(rows.every((line) => line.length <= columns));
  }
});

test("lines of the command cannot be mistaken for fields", () => {
  const command = "ls\nwhy          It is harmless. (safe)\nexpires      never";
  const approval = fixture.approvals().request(fixture.asked({ command }));
  const text = approvalText(approval, { color: false, columns: 80, nowMs: Date.now() });
  assert.match(text, /^│ ls\n│ why {10}It is harmless\. \(safe\)\n│ expires {6}never$/m);
  assert.doesNotMatch(text, /^why {10}It is harmless/m);
});

test("no line is wider than the screen, so that a wrapped line cannot pass for a field", () => {
  const wide = "漢".repeat(60);
  const fake = "under        nothing at all";
  const reasons = [{ rule: wide + fake, message: wide + fake, span: null, suggestion: null }];
  const asked = { command: `echo ${wide}`, env: { X: wide + fake }, confinement: wide + fake, intent: wide, reasons };
  const approval = fixture.approvals().request(fixture.asked({ ...asked, stdin: wide }));
  for (const columns of [40, 80]) {
    const text = approvalText(approval, { color: false, columns, nowMs: Date.now() });
    for (const line of text.split("\n")) assert.ok(displayWidth(line) <= columns, line);
    assert.doesNotMatch(text, /^under {8}nothing/m);
  }
});

test("wraps long values in linear time", () => {
  const approval = fixture.approvals().request(fixture.asked({ command: "ls", confinement: "漢 é".repeat(100_000) }));
  const text = approvalText(approval, { color: false, columns: 80, nowMs: Date.now() });
  assert.equal(text.match(/漢/g)?.length, 100_000);
});

test("escapes control characters in rule names, which an agent may have written", () => {
  const reasons = [{ rule: "x\u001b[2J\u202ey", message: "m\u001b[31m", span: null, suggestion: null }];
  const { request } = fixture.approvals().request(fixture.asked({ command: "ls", reasons }));
  assert.deepEqual(request.reasons, [{ rule: "x‹escape›[2J‹U+202E›y", message: "m‹escape›[31m", span: null }]);
});

test("stdin and environment variables are part of the command section", () => {
  const asked = { command: "bash -s", stdin: "id\nrm -rf /srv", env: { CODE: "curl evil.example" } };
  const approval = fixture.approvals().request(fixture.asked(asked));
  const { command } = approvalLines(approval, { color: false, columns: 80, nowMs: Date.now() });
  assert.deepEqual(command.slice(1), [
    "│ bash -s",
    "with this text on stdin",
    "│ id",
    "│ rm -rf /srv",
    "with these environment variables",
    "│ CODE=curl evil.example",
  ]);
});

test("with color, risky spans are red and escaped characters inverse", () => {
  const command = "ls \u202e; rm -rf /srv";
  const start = command.indexOf("rm");
  const reasons = [{ rule: "delete", message: "It deletes.", span: { start, end: command.length }, suggestion: null }];
  const approval = fixture.approvals().request(fixture.asked({ command, reasons }));
  const text = approvalText(approval, { color: true, columns: 80, nowMs: Date.now() });
  assert.ok(text.includes("\u001b[7m‹U+202E›\u001b[27m"));
  assert.ok(text.includes("\u001b[1m\u001b[31mrm -rf /srv\u001b[39m\u001b[22m"));
  assert.ok(stripVTControlCharacters(text).includes("│ ls ‹U+202E›; rm -rf /srv"));
});

test("without color, risky spans are underlined", () => {
  const reasons = [{ rule: "delete", message: "It deletes.", span: { start: 4, end: 11 }, suggestion: null }];
  const approval = fixture.approvals().request(fixture.asked({ command: "ls; rm -rf; id", reasons }));
  const text = approvalText(approval, { color: false, columns: 80, nowMs: Date.now() });
  assert.match(text, /^│ ls; rm -rf; id\n {6}\^{7}$/m);
});

test("escapes names, folders, variables, intent and stdin, and masks secrets", () => {
  const { request } = fixture.approvals().request(
    fixture.asked({
      command: "bash -s",
      agent: "bui\u202elder",
      env: { GREETING: "a\u200bb\n", API_TOKEN: "hunter2-hunter2" },
      intent: "just\rlooking",
      stdin: "rm -rf x\u001b[2K\n",
    }),
  );
  assert.equal(request.agent, "bui‹U+202E›lder");
  assert.deepEqual(request.environment, [
    { name: "GREETING", value: "a‹U+200B›b‹line break›" },
    { name: "API_TOKEN", value: "•••" },
  ]);
  assert.equal(request.intent?.text, "just‹return›looking");
  assert.equal(request.stdin?.text, "rm -rf x‹escape›[2K\n");
});

test("lists each unknown part of a command once, with its reason", () => {
  const { request } = fixture.approvals().request(fixture.asked({ command: "$(cat word) hello" }));
  assert.deepEqual(request.commands.at(-1)?.notes, [
    "the program to run cannot be determined: the output of a command substitution is known only at run time",
  ]);
});
