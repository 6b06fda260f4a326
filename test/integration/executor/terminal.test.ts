import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { EXECUTOR, nativeOnly } from "../../fixtures/executor.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";
import { until } from "../../fixtures/until.ts";

const fixture = new GatewayFixture();
const gateway = await fixture.open();
after(() => fixture.close());

test("a command gets a controlling terminal of the requested size", async () => {
  const command = "test -t 0 && test -t 1 && test -t 2 && stty size && tty && tty < /dev/tty && echo $TERM";
  const result = await gateway.run({ command, pty: true, size: { columns: 77, rows: 13 } });
  assert.match(result.output, /^13 77\n(\/dev\/pts\/\d+)\n\/dev\/tty\nxterm-256color\n$/);
  assert.deepEqual(gateway.session(result.id).info().pty, { columns: 77, rows: 13 });
  const { output } = await gateway.run({
    command: "printenv COLUMNS || echo none; echo $TERM",
    pty: true,
    env: { TERM: "dumb" },
  });
  assert.equal(output, "none\ndumb\n");
  assert.equal(gateway.session((await gateway.run({ command: "true", capture: "merged" })).id).info().pty, null);
});

test("output written right before the exit is never lost", async () => {
  const runs = EXECUTOR === "native" ? 1000 : 200; // The portable executor is slower.
  for (let n = 0; n < runs; n += 8) {
    const some = Array.from({ length: 8 }, (_, i) => gateway.run({ command: `echo ${n + i} last`, pty: true }));
    for (const [i, { output }] of (await Promise.all(some)).entries()) assert.equal(output, `${n + i} last\n`);
  }
  const much = await gateway.run({ command: "seq 100000; exec seq 5", pty: true, timeoutMs: 60_000 });
  assert.equal(gateway.session(much.id).info().streams.output?.bytes, 588_895 + 100_000 + 15);
  assert.ok(much.output.endsWith("\n4\n5\n"));
});

test("a command that closes its terminal can reopen it", nativeOnly("node-pty hangs up then"), async () => {
  const command = "exec <&- >&- 2>&-; sleep 0.2; echo still here > /dev/tty";
  const { output, exitCode } = await gateway.run({ command, pty: true });
  assert.deepEqual({ output, exitCode }, { output: "still here\n", exitCode: 0 });
});

test("a resize reaches the program and is recorded with its output offset", async () => {
  const command = "trap 'stty size' WINCH; echo ready; while :; do sleep 0.05; done";
  const session = await gateway.start({ command, pty: true });
  await until("the program is ready", async () => (await session.logs()).text === "ready\r\n");
  await session.resize({ columns: 40, rows: 10 });
  await until("the program has printed its new size", async () => (await session.logs()).text === "ready\r\n10 40\r\n");
  assert.deepEqual(session.info().pty, { columns: 40, rows: 10 });
  const sizes = readFileSync(join(fixture.sessionFolder(session.id), "sizes"), "utf8");
  assert.equal(sizes, "0 120 30\n7 40 10\n");
  await session.kill();
});

test("rejects stdin text on a terminal", async () => {
  const { error } = await gateway.run({ command: "cat", pty: true, stdin: { text: "x" } });
  assert.equal(error?.type, "InvalidRequest");
  assert.ok((error?.recovery.length ?? 0) > 0);
});

test("closing stdin ends the input of a program on a terminal, even in the middle of a line", async () => {
  for (const typed of ["", "whole line\n", "part of a line"]) {
    const session = await gateway.start({ command: "cat; echo end", pty: true });
    await session.write(typed);
    await session.closeStdin();
    await session.wait();
    assert.match((await session.logs()).text, /end\r\n$/);
  }
});

test("killing an interactive shell, which ignores SIGTERM, ends it at once", async () => {
  const session = await gateway.start({ command: "bash", args: ["--norc", "-i"], pty: true });
  await until(
    "the shell has printed its prompt",
    async () => (await session.logs()).text.includes("$ ") || (await session.logs()).text.includes("# "),
  );
  assert.equal((await session.kill({ graceMs: 60_000 })).signal, "SIGHUP");
});
