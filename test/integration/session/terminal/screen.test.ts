import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { after, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { SallyportError } from "../../../../src/core/error.ts";
import type { SessionHandle } from "../../../../src/core/gateway.ts";
import type { Screen } from "../../../../src/core/terminal.ts";
import { GatewayFixture } from "../../../fixtures/gateway.ts";
import { until } from "../../../fixtures/until.ts";

const fixture = new GatewayFixture();
const gateway = await fixture.open();
after(() => fixture.close());

const has = (program: string) => spawnSync("sh", ["-c", `command -v ${program}`]).status === 0;
async function linesOf(session: SessionHandle): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of session.recording()) lines.push(line);
  return lines;
}
const size = { columns: 60, rows: 10 };

test("shows the current screen of a running session", async () => {
  const command = "printf 'name? '; read name; clear; printf '\\033]2;greeter\\007hello %s' \"$name\"; sleep 60";
  const session = await gateway.start({ command, pty: true, size });
  await until("the prompt is on the screen", async () => (await session.screen()).lines[0] === "name?");
  const asked = await session.screen();
  assert.deepEqual(asked.cursor, { column: 6, row: 0, visible: true });
  await session.write("Ada\n");
  await until("the greeting is on the screen", async () => (await session.screen()).lines[0] === "hello Ada");
  const { columns, rows, title, alternate, offset } = await session.screen();
  const bytes = session.info().streams.output?.bytes;
  assert.deepEqual(
    { columns, rows, title, alternate, offset },
    { ...size, title: "greeter", alternate: false, offset: bytes },
  );
  await session.resize({ columns: 30, rows: 5 });
  await until("the screen has its new size", async () => (await session.screen()).columns === 30);
  await session.kill();
  assert.equal((await session.screen()).lines[0], "hello Ada", "the screen was not kept after the session had ended");
});

test("shows the screen of vim, including through another gateway", {
  skip: !has("vim") && "vim is not installed",
}, async () => {
  writeFileSync(fixture.path("poem.txt"), "roses are red\nviolets are blue\n");
  const command = "vim -u NONE -N -n -i NONE poem.txt";
  const session = await gateway.start({ command, pty: true, size });
  await until("vim shows the file", async () => {
    const { lines } = await session.screen();
    return lines[1] === "violets are blue" && lines[2] === "~";
  });
  const seen = await session.screen({ attributes: true });
  assert.equal(seen.alternate, true);
  assert.equal(seen.modes.applicationCursor, true);
  await session.write("ddp");
  await until("the lines are swapped", async () => (await session.screen()).lines[0] === "violets are blue");
  const other = await fixture.open();
  await until("both gateways return the same screen", async () =>
    isDeepStrictEqual(await other.session(session.id).screen(), await session.screen()),
  );
  await session.write(":wq\r");
  await session.wait();
  assert.equal((await session.screen()).alternate, false);
});

test("returns the scrollback on request", async () => {
  const { id } = await gateway.run({ command: "seq 100", pty: true, size });
  const screen = await gateway.session(id).screen({ scrollback: true });
  assert.deepEqual(screen.lines, ["92", "93", "94", "95", "96", "97", "98", "99", "100", ""]);
  assert.deepEqual(
    screen.scrollback,
    Array.from({ length: 91 }, (_, n) => `${n + 1}`),
  );
});

test("a session on pipes has no screen, picture or recording", async () => {
  const { id } = await gateway.run({ command: "echo x" });
  const session = gateway.session(id);
  const refused = (error: unknown) => error instanceof SallyportError && error.type === "NotOnTerminal";
  await assert.rejects(session.screen(), refused);
  await assert.rejects(session.picture("svg"), refused);
  await assert.rejects(linesOf(session), refused);
});

test("rejects a picture format other than svg", async () => {
  const { id } = await gateway.run({ command: "echo x", pty: true, size });
  const session = gateway.session(id);
  const asked = session.picture("png" as "svg");
  await assert.rejects(asked, { type: "InvalidRequest", message: '`format` must be "svg"; received "png".' });
});

test("a removed session has no screen", async () => {
  const { id } = await gateway.run({ command: "echo x", pty: true });
  const session = gateway.session(id);
  const { lines }: Screen = await session.screen();
  assert.equal(lines[0], "x");
  await session.remove();
  await assert.rejects(session.screen(), /removed/);
});

test("a recording is an asciicast with times and sizes", async () => {
  const command = "trap 'echo resized' WINCH; echo 'h\u00e9llo'; while :; do sleep 0.05; done";
  const session = await gateway.start({ command, pty: true, size });
  await until("the first line is on the screen", async () => (await session.screen()).lines[0] === "héllo");
  await session.resize({ columns: 40, rows: 12 });
  await until("the command has received SIGWINCH", async () => (await session.screen()).lines[1] === "resized");
  await session.kill();
  const [head, ...events] = (await linesOf(session)).map((line) => JSON.parse(line));
  const { timestamp, ...rest } = head;
  assert.deepEqual(rest, {
    version: 2,
    width: 60,
    height: 10,
    command,
    title: session.name,
    env: { TERM: "xterm-256color" },
  });
  assert.ok(Math.abs(timestamp - Date.parse(session.info().startedAt) / 1000) < 30);
  let last = 0;
  for (const [time, code, data] of events) {
    assert.ok(typeof time === "number" && time >= last);
    assert.ok(code === "o" || code === "r");
    assert.equal(typeof data, "string");
    last = time;
  }
  const played = events.map(([, code, data]) => (code === "r" ? `<${data}>` : data)).join("");
  assert.match(played, /^héllo\r\n<40x12>resized\r\n/);
});

test("a recording joins characters that were split over two pieces", async () => {
  const command =
    "printf '\\303'; sleep 0.2; printf '\\251|'; sleep 0.2; printf '\\360\\237'; sleep 0.2; printf '\\230\\200'";
  const { id } = await gateway.run({ command, pty: true });
  const lines = await linesOf(gateway.session(id));
  const output = lines.slice(1).map((line) => JSON.parse(line)[2]);
  assert.equal(output.join(""), "é|😀");
});
