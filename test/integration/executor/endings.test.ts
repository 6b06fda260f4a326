import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { ExitRecord } from "../../../src/executor/execution.ts";
import { compile } from "../../fixtures/compile.ts";
import { nativeOnly } from "../../fixtures/executor.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";

const fixture = new GatewayFixture();
const gateway = await fixture.open();
after(() => fixture.close());
const selfSignal = compile("self-signal");

function recordOf(id: string): ExitRecord {
  const [record = ""] = readFileSync(join(fixture.sessionFolder(id), "exit"), "utf8").split("\n"); // a label follows
  return JSON.parse(record) as ExitRecord;
}

test("reports all 256 exit codes in the result, the exit record and the session's info", async () => {
  const codes = Array.from({ length: 256 }, (_, code) => code);
  const results = await Promise.all(codes.map((code) => gateway.run({ command: `exit ${code}` })));
  for (const [code, result] of results.entries()) {
    const { status, exitCode, signal, error, timedOut } = result;
    assert.deepEqual(
      { status, exitCode, signal, error, timedOut },
      { status: "completed", exitCode: code, signal: null, error: null, timedOut: false },
    );
    const record = recordOf(result.id);
    assert.deepEqual(
      [record.reason, record.code, record.signal, record.core, record.final],
      ["exited", code, 0, false, true],
    );
    const info = gateway.session(result.id).info();
    assert.deepEqual(
      [info.status, info.exitCode, info.signal, info.coreDumped, info.lingering],
      ["completed", code, null, false, false],
    );
  }
});

const HARMLESS = new Set(["SIGCHLD", "SIGCONT", "SIGSTOP", "SIGTSTP", "SIGTTIN", "SIGTTOU", "SIGURG", "SIGWINCH"]);
const NAMES = new Map<number, string>();
for (const [name, number] of Object.entries(constants.signals)) if (!NAMES.has(number)) NAMES.set(number, name);
const FATAL: [number, string][] = [...[...NAMES].filter(([, name]) => !HARMLESS.has(name))];
const REAL_TIME: [number, string][] = [
  [34, "SIGRTMIN+0"],
  [35, "SIGRTMIN+1"],
  [50, "SIGRTMIN+16"],
  [64, "SIGRTMIN+30"],
];

async function assertFatal(signals: [number, string][]): Promise<void> {
  for (const [number, name] of signals) {
    const result = await gateway.run({ command: selfSignal, args: [String(number)], timeoutMs: 60_000 });
    assert.deepEqual([result.status, result.exitCode, result.signal], ["completed", null, name], name);
    const record = recordOf(result.id);
    assert.deepEqual([record.reason, record.code, record.signal, record.core], ["exited", null, number, false], name);
    const info = gateway.session(result.id).info();
    assert.deepEqual([info.status, info.exitCode, info.signal], ["completed", null, name], name);
  }
}

test("reports every terminating signal in the result, the exit record and the session's info", async () => {
  assert.ok(FATAL.length >= 23, `only ${FATAL.length} signals are known`);
  await assertFatal(FATAL);
});

test("reports every real-time signal", nativeOnly("Node has no names for real-time signals"), () =>
  assertFatal(REAL_TIME),
);

test("a signal that does not end the process does not end the session", async () => {
  for (const name of HARMLESS) {
    const number = constants.signals[name as NodeJS.Signals];
    const stops = ["SIGSTOP", "SIGTSTP", "SIGTTIN", "SIGTTOU"].includes(name);
    // SIGCONT is sent repeatedly, because the first one may arrive before the command has stopped itself.
    const resume = stops ? "(while sleep 0.05; do kill -CONT $$; done) & " : "";
    const command = `${resume}kill -${number} $$; [ -z "$!" ] || kill $!; wait; exit 7`;
    const result = await gateway.run({ command, timeoutMs: 60_000 });
    assert.deepEqual([result.status, result.exitCode, result.signal], ["completed", 7, null], name);
  }
});

test("reports a core dump only if there was one", nativeOnly("Node does not report core dumps"), async (t) => {
  const pattern = readFileSync("/proc/sys/kernel/core_pattern", "utf8").trim();
  if (pattern.startsWith("|") || pattern.startsWith("/")) return t.skip(`core dumps go to ${pattern} on this machine`);
  const dumped = await gateway.run({ command: selfSignal, args: ["6", "with-core"] });
  assert.equal(dumped.signal, "SIGABRT");
  assert.equal(recordOf(dumped.id).core, true);
  assert.equal(gateway.session(dumped.id).info().coreDumped, true);
  const plain = await gateway.run({ command: selfSignal, args: ["6"] });
  assert.equal(gateway.session(plain.id).info().coreDumped, false);
});
