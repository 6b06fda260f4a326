import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { socketPath } from "../../../src/executor/native/zygote.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";
import { send } from "../../fixtures/processes.ts";
import { RawKeeper } from "../../fixtures/raw-keeper.ts";
import { until } from "../../fixtures/until.ts";
import { zygoteWithoutGroups } from "../../fixtures/zygote.ts";

const LINE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (error|warn|info|debug) \d+ [a-z_]+: [ -~]+$/;

/** Returns a fixture whose zygote, which the first command starts, logs at `level`. */
function fixtureAt(t: TestContext, level?: string): GatewayFixture {
  const before = process.env.SALLYPORT_KEEPER_LOG;
  if (level === undefined) delete process.env.SALLYPORT_KEEPER_LOG;
  else process.env.SALLYPORT_KEEPER_LOG = level;
  const fixture = new GatewayFixture();
  t.after(async () => {
    await fixture.close();
    if (before === undefined) delete process.env.SALLYPORT_KEEPER_LOG;
    else process.env.SALLYPORT_KEEPER_LOG = before;
  });
  return fixture;
}

function log(fixture: GatewayFixture): string {
  return readFileSync(join(fixture.state, "keeper.log"), "utf8");
}

async function logged(fixture: GatewayFixture, pattern: RegExp): Promise<void> {
  await until(`the log has ${pattern}`, () => pattern.test(log(fixture)));
}

/** Returns a frame of `type`, with its length in front. */
function frame(type: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32LE(payload.length + 1, 0);
  head[4] = type;
  return Buffer.concat([head, payload]);
}

test("logs nothing about ordinary commands by default, in a file for its owner only", async (t) => {
  const fixture = fixtureAt(t);
  const gateway = await fixture.open();
  await gateway.run({ command: "echo fine; exit 3" });
  await gateway.run({ command: "/no/such/program", args: [] });
  assert.equal(log(fixture), "");
  assert.equal(statSync(join(fixture.state, "keeper.log")).mode & 0o777, 0o600);
});

test("logs the start of a zygote, and why it ends, at the level info", async (t) => {
  const fixture = fixtureAt(t, "info");
  const gateway = await fixture.open();
  await gateway.run({ command: "true" });
  await logged(fixture, / info \d+ zygote: started: build /);
  await fixture.stopKeepers();
  await logged(fixture, / info \d+ zygote: stopping: signal 15 from process \d+\n.* zygote: exited\n$/s);
  for (const line of log(fixture).trimEnd().split("\n")) assert.match(line, LINE);
});

test("logs a keeper that was killed", async (t) => {
  const fixture = fixtureAt(t);
  const gateway = await fixture.open();
  const session = await gateway.start({ command: "sleep 60" });
  const keeper = session.usage().processes[0]?.ppid ?? 0;
  send(keeper, "SIGKILL");
  await session.wait();
  await logged(
    fixture,
    new RegExp(` warn \\d+ zygote: keeper ${keeper} was killed by signal 9 while it had a connection`),
  );
});

test("logs an exit record and output that could not be stored", async (t) => {
  const fixture = fixtureAt(t);
  const gateway = await fixture.open();
  const session = await gateway.start({ command: "read line; echo hello", stdin: "open" });
  const keeper = await RawKeeper.open(join(fixture.sessionFolder(session.id), "ctl"));
  rmSync(fixture.sessionFolder(session.id), { recursive: true });
  keeper.socket.write(frame(2, Buffer.from("\n")));
  const name = `session ${session.id}: `;
  await logged(
    fixture,
    new RegExp(` error \\d+ events: ${name}cannot write the exit record: No such file or directory`),
  );
  await logged(fixture, new RegExp(` warn \\d+ events: ${name}6 bytes of output could not be stored`));
  await keeper.close();
});

test("logs malformed frames and requests", async (t) => {
  const fixture = fixtureAt(t);
  const gateway = await fixture.open();
  const session = await gateway.start({ command: "read line", stdin: "open" });
  const control = await RawKeeper.open(join(fixture.sessionFolder(session.id), "ctl"));
  control.socket.write(Buffer.concat([frame(4, Buffer.from("short")), frame(99, Buffer.alloc(0))]));
  await logged(fixture, new RegExp(`control: session ${session.id}: malformed frame of type 4 with 5 bytes`));
  await logged(fixture, new RegExp(`control: session ${session.id}: unknown frame type 99`));
  const zygote = await RawKeeper.open(socketPath(fixture.state));
  zygote.socket.write(frame(1, Buffer.from([1])));
  await logged(fixture, / warn \d+ keeper: rejected a request: /);
  zygote.socket.write(Buffer.from([255, 255, 255, 255, 2]));
  await logged(fixture, / warn \d+ channel: closed a connection: malformed frame of type 2 with 4294967295 bytes/);
  await Promise.all([control.close(), zygote.close()]);
  await session.kill({ graceMs: 0 });
});

test("logs limits that the kernel does not enforce, once", async (t) => {
  const fixture = fixtureAt(t);
  await zygoteWithoutGroups(fixture);
  const gateway = await fixture.open();
  const limits = { memoryBytes: 64 << 20, cpu: 0.5 };
  for (let i = 0; i < 3; i++) await gateway.run({ command: "true", args: [], limits });
  assert.equal(log(fixture).match(/the memory limit is checked only at intervals/g)?.length, 1);
  assert.equal(log(fixture).match(/the CPU limit is not enforced/g)?.length, 1);
});

test("never logs arguments, environment, names, paths, input or output of a command", async (t) => {
  const fixture = fixtureAt(t, "debug");
  const gateway = await fixture.open();
  const secret = "hunter2secret";
  const cwd = fixture.path(secret);
  mkdirSync(cwd);
  const ids: string[] = [];
  for (const pty of [false, true]) {
    const common = { name: `${secret}-${pty}`, cwd, env: { SAID: secret }, pty };
    const { id, exitCode, error } = await gateway.run({ ...common, command: `echo ${secret}; echo $SAID >&2; exit 7` });
    assert.equal(exitCode, 7, error?.message);
    ids.push(id);
  }
  await gateway.run({ command: `/no/such/${secret}`, args: [secret] });
  ids.push((await gateway.run({ command: "cat", stdin: { text: secret } })).id);
  const lost = await gateway.start({ command: `sleep 60 # ${secret}` });
  ids.push(lost.id);
  send(lost.usage().processes[0]?.ppid ?? 0, "SIGKILL");
  await lost.wait();
  await logged(fixture, /was killed by signal 9/);
  for (const id of ids) assert.ok(log(fixture).includes(`session ${id}: `), `${id} is not logged`);
  assert.ok(!log(fixture).includes("hunter2"), log(fixture));
});

test("a flood of malformed connections leaves the log small and commands running", async (t) => {
  const fixture = fixtureAt(t);
  const gateway = await fixture.open();
  await gateway.run({ command: "true" });
  const connect = async () => {
    const keeper = new RawKeeper(socketPath(fixture.state));
    keeper.socket.end(Buffer.from([0, 0, 0, 0, 1]));
    await until("the keeper closes the connection", () => keeper.closed);
  };
  const started = Date.now();
  for (let i = 0; i < 30; i++) await Promise.all(Array.from({ length: 50 }, connect));
  const minutes = 1 + Math.floor((Date.now() - started) / 60_000);
  const lines = log(fixture).match(/malformed frame/g)?.length ?? 0;
  assert.ok(lines >= 500 && lines <= 600 * (minutes + 1), `${lines} lines in ${minutes} min`);
  if (minutes === 1) assert.ok(lines <= 600, `${lines} lines`);
  assert.equal((await gateway.run({ command: "echo fine" })).stdout, "fine\n");
});

test("commands run if the log cannot be written", async (t) => {
  const fixture = fixtureAt(t, "debug");
  mkdirSync(join(fixture.state, "keeper.log"), { recursive: true, mode: 0o700 });
  const gateway = await fixture.open();
  assert.equal((await gateway.run({ command: "echo fine" })).stdout, "fine\n");
});

test("a sandboxed command can neither read nor replace the log", async (t) => {
  const fixture = fixtureAt(t, "debug");
  const gateway = await fixture.open({ policy: { scope: "anywhere", sandbox: "workspace-write" } });
  const file = join(fixture.state, "keeper.log");
  const { stdout } = await gateway.run({ command: `cat ${file} || echo no; echo x > ${file} || echo no` });
  assert.equal(stdout, "no\nno\n");
  assert.ok(existsSync(file) && log(fixture).includes("zygote: started"));
});
