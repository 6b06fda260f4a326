import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import type { SessionHandle } from "../../../src/core/gateway.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";
import { Sandbox } from "../../fixtures/sallyport.ts";
import { pause, until } from "../../fixtures/until.ts";

const box = new Sandbox();
const fixture = new GatewayFixture(box.state);
const gateway = await fixture.open();
after(async () => {
  await fixture.close();
  box.remove();
});

const size = { columns: 40, rows: 6 };

/** Starts a session on a terminal and waits until all its output is drawn. */
async function shown(name: string, output: string): Promise<SessionHandle> {
  // Answers to terminal queries arrive as input, which must not be echoed.
  const command = `stty -echo; printf '${output}'; sleep 300`;
  const session = await gateway.start({ command, pty: true, size, name });
  await until("the output is drawn", async () => (await session.screen()).lines.some((line) => line.includes("ready")));
  return session;
}

const HOSTILE = "\\033]52;c;UFdORUQ=\\007\\033[6n\\033[c\\033]2;evil\\033]0;x\\007\\033[?1003h\\033P+q544e\\033\\\\";

test("screen prints the visible rows and none of the program's escape sequences", async () => {
  const session = await shown("plain", `\\033[31mred\\033[0m\\n${HOSTILE}\\033[4;1Hready`);
  const { stdout, code } = await box.run(["screen", "plain"]);
  assert.deepEqual({ stdout, code }, { stdout: "red\n\n\nready\n", code: 0 });
  const onTerminal = await box.terminal(["screen", "plain"]);
  assert.equal(onTerminal.stdout, "\x1b[38;5;1mred\x1b[0m\n\n\nready\n");
  const noColor = await box.terminal(["screen", "plain"], { env: { NO_COLOR: "1" } });
  assert.equal(noColor.stdout, "red\n\n\nready\n");
  await session.kill();
});

test("screen --json prints lines, scrollback, cursor, title and attributes", async () => {
  const session = await shown("data", "\\033]2;title\\007a\\r\\nb\\r\\nc\\r\\nd\\r\\ne\\r\\nf\\r\\nready");
  const { stdout } = await box.run(["screen", "--json", "--scrollback", "data"]);
  const seen = JSON.parse(stdout);
  assert.deepEqual(seen.lines, ["b", "c", "d", "e", "f", "ready"]);
  assert.deepEqual(seen.scrollback, ["a"]);
  assert.deepEqual(seen.cursor, { column: 5, row: 5, visible: true });
  assert.equal(seen.title, "title");
  assert.equal(seen.attributes[5][0].text, "ready");
  await session.kill();
});

test("screen --svg writes an SVG image to stdout or a file", async () => {
  const session = await shown("drawn", "<&>\\033[7m ready \\033[0m");
  const { stdout, code } = await box.run(["screen", "--svg", "-", "drawn"]);
  assert.equal(code, 0);
  assert.match(stdout, /^<svg .*&lt;&amp;&gt;.*<\/svg>\n$/s);
  assert.equal((await box.run(["screen", "--svg", "drawn.svg", "drawn"])).code, 0);
  assert.equal(readFileSync(join(box.folder, "drawn.svg"), "utf8"), stdout);
  await session.kill();
});

test("screen --watch draws only cells until the session ends", async () => {
  const wait = (file: string) => `until test -e ${file}; do sleep 0.05; done`;
  const command = `stty -echo; printf 'one${HOSTILE}'; ${wait("go")}; printf '\\033[2;1H\\033[32mtwo\\033[0m'; ${wait("end")}`;
  await gateway.start({ command, pty: true, size, name: "watched" });
  const { child, shows } = box.onTerminal(["screen", "--watch", "watched"]);
  const ended = once(child, "close");
  for (const [seen, file] of [
    ["one", "go"],
    ["two", "end"],
  ] as const) {
    await until(`the terminal shows ${seen}`, () => shows().includes(seen));
    writeFileSync(fixture.path(file), "");
  }
  assert.equal((await ended)[0], 0);
  const stdout = shows();
  assert.ok(stdout.startsWith("\x1b[?1049h\x1b[?25l"));
  assert.ok(stdout.includes("one") && stdout.includes("\x1b[38;5;2mtwo\x1b[0m"));
  assert.ok(stdout.trimEnd().endsWith("two\x1b[0m"), "the last screen was removed");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: sequences
  const sequences = new Set(stdout.match(/\x1b(\[[0-9;?]*[ -/]*[@-~]|.)/g)?.map((found) => found.replace(/\d+/g, "n")));
  const ours = ["\x1b[?nh", "\x1b[?nl", "\x1b[H", "\x1b[K", "\x1b[J", "\x1b[n;nH", "\x1b[nm", "\x1b[n;n;nm"];
  assert.deepEqual([...sequences].filter((found) => !ours.includes(found)), []); // biome-ignore format: one line
  assert.ok(!stdout.includes("?1003") && !stdout.includes("UFdORUQ"));
});

test("record writes an asciicast to a file or stdout", async () => {
  await gateway.run({ command: "echo played", pty: true, size, name: "recorded" });
  const { stdout } = await box.run(["record", "recorded"]);
  const [head, ...events] = stdout.trimEnd().split("\n").map((line) => JSON.parse(line)); // biome-ignore format: one line
  assert.deepEqual(
    { version: head.version, width: head.width, height: head.height },
    { version: 2, width: 40, height: 6 },
  );
  assert.equal(events.map(([, , data]: [number, string, string]) => data).join(""), "played\r\n");
  const { code } = await box.run(["record", "-o", "a.cast", "recorded"]);
  assert.equal(code, 0);
  assert.equal(readFileSync(join(box.folder, "a.cast"), "utf8"), stdout);
});

test("reports usage errors", async () => {
  await gateway.run({ command: "echo x", name: "piped" });
  for (const args of [
    ["screen", "piped"],
    ["record", "piped"],
    ["record", "-o", "b.cast", "piped"],
  ]) {
    const { stderr, code } = await box.run(args);
    assert.notEqual(code, 0);
    assert.match(stderr, /Session `piped` has no terminal\./);
  }
  assert.throws(() => readFileSync(join(box.folder, "b.cast")));
  assert.match((await box.run(["screen", "--watch", "piped"])).stderr, /`--watch` requires a terminal/);
  assert.match(
    (await box.run(["screen", "--watch", "--json", "piped"])).stderr,
    /`--watch` cannot be used with `--json`/,
  );
  assert.match((await box.run(["screen"])).stderr, /no session given/);
  assert.match((await box.run(["record"])).stderr, /no session given/);
  const unwritable = await box.run(["record", "-o", "/nowhere/at/all.cast", "recorded"]);
  assert.notEqual(unwritable.code, 0);
  assert.match(unwritable.stderr, /cannot write `\/nowhere\/at\/all\.cast`/);
});

test("record --svg writes an animation with one frame per screen", async () => {
  const parts = ["<one>", " \\033[31mtwo", "\\033[2J\\033[Hthree"];
  const command = parts.map((part, n) => `printf '${part}'; until test -e cut${n}; do sleep 0.05; done`).join("; ");
  const session = await gateway.start({ command, pty: true, size, name: "movie" });
  for (const [n, word] of ["<one>", "two", "three"].entries()) {
    await until(`${word} is written`, async () => (await session.logs()).text.includes(word));
    await pause(300); // the duration of the frame
    writeFileSync(fixture.path(`cut${n}`), "");
  }
  await session.wait();
  const { stdout, code } = await box.run(["record", "--svg", "-", "movie"]);
  assert.equal(code, 0);
  const frames = [...stdout.matchAll(/<g id="f\d+">[\s\S]*?<\/g>/g)].map(([frame]) =>
    [...frame.matchAll(/<text[^>]*>([^<]*)</g)].map(([, text]) => text?.trim()).join(" "),
  );
  assert.deepEqual(
    frames.filter((text) => text !== ""),
    ["&lt;one&gt;", "&lt;one&gt; two", "three"],
  );
  assert.equal(stdout.match(/@keyframes/g)?.length, frames.length);
  const refused = await box.run(["record", "--svg", "/no/such/folder/x.svg", "movie"]);
  assert.equal(refused.code, 125);
  assert.match(refused.stderr, /cannot write `\/no\/such\/folder\/x\.svg`/);
});
