import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { after, test } from "node:test";
import { GatewayFixture } from "../../fixtures/gateway.ts";
import { pause, until } from "../../fixtures/until.ts";

const fixture = new GatewayFixture();
const gateway = await fixture.open();
after(() => fixture.close());

test("without stdin a command reads end of file at once", async () => {
  for (const stdin of [undefined, "none"] as const) {
    const result = await gateway.run({ command: "cat; readlink /proc/self/fd/0", stdin });
    assert.equal(result.stdout, "/dev/null\n");
  }
});

const MIB = 1 << 20;
for (const [name, text] of [
  ["an empty text", ""],
  ["one byte", "x"],
  ["a text with NULs", "a\0b\0"],
  ["characters of every width", "aü€😀"],
  ["4 MiB", "0123456789abcdef".repeat((4 * MIB) / 16)],
  ["8 MiB, the maximum", "0123456789abcdef".repeat((8 * MIB) / 16)],
] as const) {
  test(`passes ${name} as stdin`, async () => {
    const counted = await gateway.run({ command: "wc -c", stdin: { text } });
    assert.equal(counted.stdout.trim(), String(Buffer.byteLength(text)));
    const ignored = await gateway.run({ command: "exit 4", stdin: { text } });
    assert.equal(ignored.exitCode, 4);
    if (text.length > 100) return;
    assert.equal((await gateway.run({ command: "cat", stdin: { text } })).stdout, text);
  });
}

test("writes to an open stdin and closes it", async () => {
  const session = await gateway.start({ command: "cat; echo end", stdin: "open" });
  await session.write("first ");
  await session.write(Buffer.from([0xc3]));
  await session.write(Buffer.from([0xbc, 0x0a]));
  await session.write("");
  await until("the command echoes its input", async () => (await session.logs()).text === "first ü\n");
  assert.equal(session.info().status, "running");
  await session.closeStdin();
  assert.equal((await session.wait()).exitCode, 0);
  assert.equal((await session.logs()).text, "first ü\nend\n");
});

test("a slow reader gets all of a text that is larger than the pipe", async () => {
  const size = 3 * MIB + 1234;
  const reader = "n=0; while c=$(head -c 300000 | wc -c); [ $c -gt 0 ]; do n=$((n + c)); sleep 0.01; done; echo $n";
  const slow = await gateway.start({ command: reader, stdin: "open" });
  const text = Buffer.alloc(size, "y");
  await slow.write(text);
  await slow.closeStdin();
  assert.equal((await slow.wait()).exitCode, 0);
  assert.equal((await slow.logs()).text.trim(), String(size));
});

test("closing stdin first delivers the queued input", async () => {
  const session = await gateway.start({ command: "sleep 0.3; wc -c", stdin: "open" });
  await session.write("z".repeat(700_000));
  await session.closeStdin();
  await session.wait();
  assert.equal((await session.logs()).text.trim(), "700000");
});

test("rejects input after stdin was closed by either side", async () => {
  const closed = await gateway.start({ command: "sleep 5", stdin: "open" });
  await closed.closeStdin();
  await assert.rejects(closed.write("late"), { type: "StdinClosed" });
  await closed.closeStdin();
  await closed.kill();

  const deaf = await gateway.start({ command: "exec 0<&-; echo deaf; exec sleep 5", stdin: "open" });
  await until("the command has closed its stdin", async () => (await deaf.logs()).text === "deaf\n");
  await pause(50);
  await assert.rejects(deaf.write("anyone?"), { type: "StdinClosed" });
  assert.equal(deaf.info().status, "running");
  await deaf.kill();
});

for (const stdin of ["none", { text: "given" }] as const) {
  test(`rejects input to a command with stdin ${JSON.stringify(stdin)}`, async () => {
    const session = await gateway.start({ command: "sleep 5", stdin });
    await assert.rejects(session.write("hello"), (error: { type: string; recovery: unknown[] }) => {
      assert.equal(error.type, "StdinClosed");
      return error.recovery.length > 0;
    });
    await session.kill();
  });
}

test("rejects input to a session that has ended", async () => {
  const { id } = await gateway.run({ command: "true" });
  await assert.rejects(gateway.session(id).write("hello"), { type: "AlreadyExited" });
  await assert.rejects(gateway.session(id).closeStdin(), { type: "AlreadyExited" });
});

test("a write ends when the command ends", async () => {
  const go = fixture.path("go");
  const session = await gateway.start({ command: `until [ -e ${go} ]; do sleep 0.02; done; exit 3`, stdin: "open" });
  const writing = assert.rejects(session.write(Buffer.alloc(8 * MIB)), { type: "StdinClosed" });
  await pause(100);
  writeFileSync(go, "");
  await writing;
  assert.equal((await session.wait()).exitCode, 3);
});

test("another gateway can write input", async () => {
  const session = await gateway.start({ command: "cat", stdin: "open" });
  const other = await fixture.open();
  await other.session(session.id).write("from elsewhere\n");
  await other.session(session.id).closeStdin();
  await session.wait();
  assert.equal((await session.logs()).text, "from elsewhere\n");
});
