import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { after, test } from "node:test";
import { GatewayFixture } from "../../fixtures/gateway.ts";

const fixture = new GatewayFixture();
const gateway = await fixture.open();
after(() => fixture.close());

const timeoutMs = 60_000;

/** Returns a command that waits for a file before each line, so that the test controls the timing. */
function teller(lines: string[]): string {
  return lines.map((line, n) => `until test -e go${n}; do sleep 0.02; done; printf ${line}`).join("; ");
}

let told = 0;
const say = (n: number) => writeFileSync(fixture.path(`room${told}/go${n}`), "");

async function start(lines: string[], rest = "; sleep 60", pty = true) {
  told++;
  const room = fixture.path(`room${told}`);
  const command = `mkdir -p ${room}; cd ${room}; echo ready; ${teller(lines)}${rest}`;
  const session = await gateway.start({ command, pty });
  await session.waitFor({ pattern: /ready/, offset: 0, timeoutMs });
  return session;
}

for (const pty of [true, false]) {
  const where = pty ? "a terminal" : "pipes";

  test(`on ${where}: finds a pattern in new output, across escape sequences and pieces`, async () => {
    const session = await start(["'go \\e[1;3'", "'1mgr\\e]0;title\\ae'", "'\\e[men\\n'"], "; sleep 60", pty);
    const waiting = session.waitFor({ pattern: /go (green)/, timeoutMs });
    say(0);
    await session.waitFor({ pattern: /go /, offset: 0, timeoutMs });
    say(1);
    say(2);
    const { reason, match, offset, info } = await waiting;
    assert.deepEqual(
      { reason, match, status: info.status },
      { reason: "pattern", match: "go green", status: "running" },
    );
    const before = await session.logs({ limit: offset });
    assert.match(before.text, /en$/);
    await session.kill({ graceMs: 0 });
  });

  test(`on ${where}: reports the exit, unless the pattern matched before it`, async () => {
    const ending = await start(["last", "words"], "; exit 3", pty);
    const exit = ending.waitFor({ pattern: /never/, quietMs: timeoutMs, timeoutMs });
    const match = ending.waitFor({ pattern: /words/, timeoutMs });
    say(0);
    say(1);
    assert.equal((await match).reason, "pattern");
    const { reason, info } = await exit;
    assert.deepEqual({ reason, code: info.exitCode }, { reason: "exit", code: 3 });
    // A wait on a session that has ended returns at once, and its output can still be searched.
    assert.equal((await ending.waitFor()).reason, "exit");
    assert.equal((await ending.waitFor({ pattern: /words/, offset: 0 })).reason, "pattern");
    assert.equal((await ending.waitFor({ input: true })).reason, "exit");
  });

  test(`on ${where}: finds the output of a program that ended before the wait`, async () => {
    const brief = await gateway.start({ command: "read -r line; echo got $line", pty, stdin: "open" });
    await brief.write("it\n");
    assert.equal((await brief.wait()).exitCode, 0);
    const { reason, match } = await gateway.session(brief.id).waitFor({ pattern: /got it/, timeoutMs });
    assert.deepEqual({ reason, match }, { reason: "pattern", match: "got it" });
    assert.equal((await brief.waitFor({ pattern: /never/, timeoutMs })).reason, "exit");
  });
}

test("a wait for `quiet` ends when nothing is written for the given time", async () => {
  const busy = await gateway.start({
    command: "for i in 1 2 3 4 5 6 7 8; do printf x; sleep 0.1; done; sleep 60",
    pty: true,
  });
  const { reason, offset } = await busy.waitFor({ quietMs: 4000, timeoutMs });
  assert.deepEqual({ reason, offset }, { reason: "quiet", offset: 8 });
  await busy.kill({ graceMs: 0 });
});

test("a wait ends at its timeout or when it is aborted", async () => {
  const silent = await gateway.start({ command: "sleep 60", pty: true });
  assert.equal((await silent.waitFor({ input: true, timeoutMs: 50 })).reason, "timeout");
  assert.equal((await silent.waitFor({ timeoutMs: 0 })).reason, "timeout");
  const off = new AbortController();
  const waiting = silent.waitFor({ input: true, signal: off.signal });
  off.abort(new Error("enough"));
  await assert.rejects(waiting, /enough/);
  await silent.kill({ graceMs: 0 });
});

test("finds output that followed the input before the wait began", async () => {
  const cat = await gateway.start({ command: "cat", pty: true });
  await cat.waitFor({ input: true, timeoutMs });
  await cat.write("echoed\r");
  await cat.waitFor({ input: true, timeoutMs });
  assert.equal((await cat.waitFor({ pattern: /echoed\nechoed/, timeoutMs })).reason, "pattern");
  await cat.kill({ graceMs: 0 });
});

test("a wait through another gateway has the same result", async () => {
  const other = await fixture.open();
  const asking = await gateway.start({ command: "read -r line", pty: true });
  assert.equal((await other.session(asking.id).waitFor({ input: true, timeoutMs })).reason, "input");
  const waiting = other.session(asking.id).waitFor({ timeoutMs });
  await asking.write("done\r");
  assert.equal((await waiting).reason, "exit");
});

test("detects a program that waits for input with poll, select or epoll", async () => {
  const polls = `
    const tty = require("node:tty");
    process.stdin.on("data", (data) => { if (String(data).includes("q")) process.exit(0); });
    console.log(tty.isatty(0));`;
  const session = await gateway.start({ command: process.execPath, args: ["-e", polls], pty: true });
  assert.equal((await session.waitFor({ input: true, timeoutMs })).reason, "input");
  await session.write("q\r");
  assert.equal((await session.waitFor({ timeoutMs })).reason, "exit");
});

test("rejects invalid conditions", async () => {
  const piped = await gateway.start({ command: "sleep 60" });
  await assert.rejects(piped.waitFor({ input: true }), { type: "NotOnTerminal" });
  await assert.rejects(piped.waitFor({ quietMs: -1 }), { type: "InvalidRequest" });
  await assert.rejects(piped.waitFor({ timeoutMs: Number.NaN }), { type: "InvalidRequest" });
  await assert.rejects(piped.waitFor({ pattern: "text" as never }), { type: "InvalidRequest" });
  await assert.rejects(piped.waitFor({ offset: -1 }), { type: "InvalidRequest" });
  await assert.rejects(piped.sendKeys(["Enter"]), { type: "NotOnTerminal" });
  await assert.rejects(piped.paste("text"), { type: "NotOnTerminal" });
  await assert.rejects(piped.resize({ columns: 10, rows: 10 }), { type: "NotOnTerminal" });
  await assert.rejects(piped.resize({ columns: 0, rows: 10 }), { type: "InvalidRequest" });
  await piped.kill({ graceMs: 0 });
});
