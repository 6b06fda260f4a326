import assert from "node:assert/strict";
import { after, test } from "node:test";
import { compile } from "../../fixtures/compile.ts";
import { nativeOnly } from "../../fixtures/executor.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";
import { until } from "../../fixtures/until.ts";

const fixture = new GatewayFixture();
const gateway = await fixture.open();
after(() => fixture.close());
const MIB = 1 << 20;

const UNMEASURED = nativeOnly("Node does not report the usage of a child");

test("reports CPU time, peak memory and I/O of the whole tree", UNMEASURED, async () => {
  const consume = compile("consume");
  const command = `${consume} 200 64 8 a & ${consume} 200 32 8 b & wait`;
  const result = await gateway.run({ command });
  assert.equal(result.exitCode, 0);
  const usage = result.resourceUsage;
  assert.ok(usage);
  assert.ok(usage.cpuMs >= 380 && usage.cpuMs < 5000, `the CPU time was ${usage.cpuMs} ms`);
  assert.ok(usage.memoryPeakBytes >= 64 * MIB && usage.memoryPeakBytes < 160 * MIB, `${usage.memoryPeakBytes} bytes`);
  assert.ok(usage.ioWriteBytes >= 16 * MIB && usage.ioWriteBytes < 24 * MIB, `${usage.ioWriteBytes} written`);
  assert.ok(usage.ioReadBytes >= 16 * MIB && usage.ioReadBytes < 24 * MIB, `${usage.ioReadBytes} read`);
  assert.deepEqual(gateway.session(result.id).info().resourceUsage, usage);
  assert.deepEqual(gateway.session(result.id).usage(), { usage, processes: [] });
});

test("the peak memory is that of all processes together, and does not shrink when one ends", UNMEASURED, async () => {
  const hold = compile("hold-memory");
  const session = await gateway.start({ command: `${hold} 40 one & ${hold} 40 other & wait` });
  const peak = () => session.usage().usage?.memoryPeakBytes ?? 0;
  await until("both processes have their memory", () => peak() > 80 * MIB);
  // The keeper measures once a second.
  await gateway.run({ command: "sleep 2; touch one" });
  await until("one process has ended", () => session.usage().processes.length === 2);
  assert.ok(peak() > 80 * MIB, `${peak()} bytes while one is running`);
  await gateway.run({ command: "touch other" });
  await session.wait();
  assert.ok(peak() > 80 * MIB && peak() < 100 * MIB, `${peak()} bytes after the end`);
});

test("includes the usage of orphans", UNMEASURED, async () => {
  const consume = compile("consume");
  const session = await gateway.start({ command: `(setsid ${consume} 200 8 4 c &) ; exit 0` });
  await session.wait();
  await until("the orphan has ended", () => !session.info().lingering);
  const usage = session.info().resourceUsage;
  assert.ok(usage && usage.cpuMs >= 190, `${usage?.cpuMs} ms`);
  assert.ok(usage.ioWriteBytes >= 4 * MIB);
});

test("reports almost no usage for a command that does nothing", UNMEASURED, async () => {
  const { resourceUsage, durationMs } = await gateway.run({ command: "true", args: [] });
  assert.ok(resourceUsage && resourceUsage.cpuMs < 200 && resourceUsage.memoryPeakBytes < 16 * MIB);
  assert.ok(durationMs > 0);
});

test("start, end and duration match the clock", async () => {
  const before = Date.now();
  const { id } = await gateway.run({ command: "sleep 0.3" });
  const info = gateway.session(id).info();
  const [started, ended] = [Date.parse(info.startedAt), Date.parse(info.endedAt ?? "")];
  assert.ok(started >= before - 5 && ended <= Date.now() + 5);
  assert.ok(ended - started >= 295, `${ended - started} ms`);
  // The values are read from different clocks, with some time in between.
  assert.ok(Math.abs((info.durationMs ?? 0) - (ended - started)) < 250, `${info.durationMs} ms`);
});

test("a running session shows its processes and their usage", async () => {
  const session = await gateway.start({
    command: "sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; sleep 300' & sleep 300; wait",
  });
  await until("the session has used CPU time", () => (session.usage().usage?.cpuMs ?? 0) > 0);
  const main = session.info().pid;
  // A child shows its parent's command line until it has executed its program.
  await until("all processes of the tree are running", () =>
    session.usage().processes.some(({ ppid, command }) => ppid === main && command === "sleep 300"),
  );
  const { usage, processes } = session.usage();
  assert.ok(processes.length >= 3);
  assert.ok(processes.some(({ pid, command }) => pid === main && command.startsWith("bash -c")));
  assert.ok(usage && usage.memoryPeakBytes > MIB / 4);
  await session.kill({ graceMs: 0 });
  assert.deepEqual(session.usage().processes, []);
});

test("a command that could not start has no usage", async () => {
  const result = await gateway.run({ command: "no-such-program", args: [] });
  assert.equal(result.resourceUsage, null);
});
