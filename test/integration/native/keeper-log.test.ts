import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { socketPath } from "../../../src/executor/native/zygote.ts";
import { TestHouse } from "../../fixtures/gateway.ts";
import { send } from "../../fixtures/processes.ts";
import { RawKeeper } from "../../fixtures/raw-keeper.ts";
import { until } from "../../fixtures/until.ts";
import { zygoteWithoutGroups } from "../../fixtures/zygote.ts";

const LINE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (error|warn|info|debug) \d+ [a-z_]+: [ -~]+$/;

/** A state folder whose zygote, which the first command starts, logs at `level`. */
function houseAt(t: TestContext, level?: string): TestHouse {
  const before = process.env.SALLYPORT_KEEPER_LOG;
  if (level === undefined) delete process.env.SALLYPORT_KEEPER_LOG;
  else process.env.SALLYPORT_KEEPER_LOG = level;
  const house = new TestHouse();
  t.after(async () => {
    await house.close();
    if (before === undefined) delete process.env.SALLYPORT_KEEPER_LOG;
    else process.env.SALLYPORT_KEEPER_LOG = before;
  });
  return house;
}

function log(house: TestHouse): string {
  return readFileSync(join(house.state, "keeper.log"), "utf8");
}

async function logged(house: TestHouse, pattern: RegExp): Promise<void> {
  await until(`the log has ${pattern}`, () => pattern.test(log(house)));
}

/** A frame of `type`, with its length in front. */
function frame(type: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32LE(payload.length + 1, 0);
  head[4] = type;
  return Buffer.concat([head, payload]);
}

test("logs nothing about ordinary commands by default, in a file for its owner only", async (t) => {
  const house = houseAt(t);
  const gateway = await house.open();
  await gateway.run({ command: "echo fine; exit 3" });
  await gateway.run({ command: "/no/such/program", args: [] });
  assert.equal(log(house), "");
  assert.equal(statSync(join(house.state, "keeper.log")).mode & 0o777, 0o600);
});

test("logs the start of a zygote, and why it ends, at the level info", async (t) => {
  const house = houseAt(t, "info");
  const gateway = await house.open();
  await gateway.run({ command: "true" });
  await logged(house, / info \d+ zygote: started, build /);
  await house.stopKeepers();
  await logged(house, / info \d+ zygote: stopping: signal 15 from process \d+\n.* zygote: ended\n$/s);
  for (const line of log(house).trimEnd().split("\n")) assert.match(line, LINE);
});

test("logs a keeper that was killed", async (t) => {
  const house = houseAt(t);
  const gateway = await house.open();
  const session = await gateway.start({ command: "sleep 60" });
  const keeper = session.usage().processes[0]?.ppid ?? 0;
  send(keeper, "SIGKILL");
  await session.wait();
  await logged(
    house,
    new RegExp(` warn \\d+ zygote: keeper ${keeper} was killed by signal 9 while it had a connection`),
  );
});

test("logs an exit record and output that could not be stored", async (t) => {
  const house = houseAt(t);
  const gateway = await house.open();
  const session = await gateway.start({ command: "read line; echo hello", stdin: "open" });
  const keeper = await RawKeeper.open(join(house.sessionFolder(session.id), "ctl"));
  rmSync(house.sessionFolder(session.id), { recursive: true });
  keeper.socket.write(frame(2, Buffer.from("\n")));
  const name = `session ${session.id}: `;
  await logged(house, new RegExp(` error \\d+ events: ${name}cannot write the exit record: No such file or directory`));
  await logged(house, new RegExp(` warn \\d+ events: ${name}6 bytes of its output could not be stored`));
  await keeper.close();
});

test("logs malformed frames and requests", async (t) => {
  const house = houseAt(t);
  const gateway = await house.open();
  const session = await gateway.start({ command: "read line", stdin: "open" });
  const control = await RawKeeper.open(join(house.sessionFolder(session.id), "ctl"));
  control.socket.write(Buffer.concat([frame(4, Buffer.from("short")), frame(99, Buffer.alloc(0))]));
  await logged(house, new RegExp(`control: session ${session.id}: malformed frame of type 4 with 5 bytes`));
  await logged(house, new RegExp(`control: session ${session.id}: unknown frame type 99`));
  const zygote = await RawKeeper.open(socketPath(house.state));
  zygote.socket.write(frame(1, Buffer.from([1])));
  await logged(house, / warn \d+ keeper: refused a request: /);
  zygote.socket.write(Buffer.from([255, 255, 255, 255, 2]));
  await logged(house, / warn \d+ channel: closed a connection: malformed frame of type 2 with 4294967295 bytes/);
  await Promise.all([control.close(), zygote.close()]);
  await session.kill({ graceMs: 0 });
});

test("logs limits that the kernel does not enforce here, once", async (t) => {
  const house = houseAt(t);
  await zygoteWithoutGroups(house);
  const gateway = await house.open();
  const limits = { memoryBytes: 64 << 20, cpu: 0.5 };
  for (let i = 0; i < 3; i++) await gateway.run({ command: "true", args: [], limits });
  assert.equal(log(house).match(/the memory limit is only checked from time to time/g)?.length, 1);
  assert.equal(log(house).match(/the cpu limit is not enforced/g)?.length, 1);
});

test("never logs arguments, environment, names, paths, input or output of a command", async (t) => {
  const house = houseAt(t, "debug");
  const gateway = await house.open();
  const secret = "hunter2secret";
  const cwd = house.path(secret);
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
  await logged(house, /was killed by signal 9/);
  for (const id of ids) assert.ok(log(house).includes(`session ${id}: `), `${id} is not logged`);
  assert.ok(!log(house).includes("hunter2"), log(house));
});

test("a flood of malformed connections leaves the log small and commands running", async (t) => {
  const house = houseAt(t);
  const gateway = await house.open();
  await gateway.run({ command: "true" });
  const connect = async () => {
    const keeper = new RawKeeper(socketPath(house.state));
    keeper.socket.end(Buffer.from([0, 0, 0, 0, 1]));
    await until("it is closed", () => keeper.closed);
  };
  const started = Date.now();
  for (let i = 0; i < 30; i++) await Promise.all(Array.from({ length: 50 }, connect));
  const minutes = 1 + Math.floor((Date.now() - started) / 60_000);
  const lines = log(house).match(/malformed frame/g)?.length ?? 0;
  assert.ok(lines >= 500 && lines <= 600 * (minutes + 1), `${lines} lines in ${minutes} min`);
  if (minutes === 1) assert.ok(lines <= 600, `${lines} lines`);
  assert.equal((await gateway.run({ command: "echo fine" })).stdout, "fine\n");
});

test("commands run where the log cannot be written", async (t) => {
  const house = houseAt(t, "debug");
  mkdirSync(join(house.state, "keeper.log"), { recursive: true, mode: 0o700 });
  const gateway = await house.open();
  assert.equal((await gateway.run({ command: "echo fine" })).stdout, "fine\n");
});

test("a confined command can neither read nor replace the log", async (t) => {
  const house = houseAt(t, "debug");
  const gateway = await house.open({ policy: { scope: "anywhere", sandbox: "workspace-write" } });
  const file = join(house.state, "keeper.log");
  const { stdout } = await gateway.run({ command: `cat ${file} || echo no; echo x > ${file} || echo no` });
  assert.equal(stdout, "no\nno\n");
  assert.ok(existsSync(file) && log(house).includes("zygote: started"));
});
