import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import type { Gateway } from "../../../src/gateway/gateway.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";
import { OtherGateway } from "../../fixtures/other-gateway.ts";
import { pause, until } from "../../fixtures/until.ts";
import { assertWritten, type Writing, writingRequest } from "../../fixtures/writer.ts";

const ROUNDS = Number(process.env.SOAK_ROUNDS ?? 6);
const COMMANDS = 200;
/** Maximum wait for sessions whose gateway was killed before the launch. They are abandoned after 10 s. */
const GIVEN_UP_MS = 60_000;

const fixture = new GatewayFixture();
after(() => fixture.close());
const notes = fixture.path("notes");
mkdirSync(notes);

function below(limit: number): number {
  return Math.floor(Math.random() * limit);
}

/**
 * Returns the commands of a round. Most are still running when the gateway is killed, some have exited, and some write
 * a lot of output.
 */
function writings(round: number): Writing[] {
  return Array.from({ length: COMMANDS }, (_, index) => {
    const name = `round-${round}-${index}`;
    const long = index % 4 !== 0;
    const stdout = index % 20 === 0 ? 300_000 : below(8000);
    const pieces = long ? 8 : 1 + below(2);
    const pauseMs = long ? 80 + below(120) : below(10);
    return {
      name,
      seed: below(1000),
      stdout,
      stderr: below(5000),
      pieces,
      pauseMs,
      code: below(250),
      note: join(notes, name),
    };
  });
}

/** Waits until `count` commands have begun. A count, unlike a delay, does not depend on the speed of the machine. */
async function someHaveBegun(round: number, count: number): Promise<void> {
  const begun = () =>
    readdirSync(notes).filter((name) => name.startsWith(`round-${round}-`) && name.endsWith(".began"));
  await until(`${count} commands have begun`, () => begun().length >= count, 120_000);
}

function check(gateway: Gateway, writing: Writing, ran: Set<string>): void {
  const { id, status, exitCode, error } = gateway.session(writing.name).info();
  if (status === "failed") {
    assert.match(error?.message ?? "", /exited before the command was started/);
    assert.ok(!existsSync(`${writing.note}.began`), `${writing.name} ran although its session failed to start`);
    return;
  }
  ran.add(writing.name);
  assert.deepEqual([writing.name, status, exitCode], [writing.name, "completed", writing.code]);
  assert.equal(readFileSync(`${writing.note}.ended`, "utf8"), String(writing.code));
  const folder = fixture.sessionFolder(id);
  const read = (name: string, length: number) => (length ? readFileSync(join(folder, name)) : Buffer.alloc(0));
  assertWritten(read("stdout", writing.stdout), 1, writing.stdout, writing);
  assertWritten(read("stderr", writing.stderr), 2, writing.stderr, writing);
}

test(`a gateway killed at a random moment during ${COMMANDS} commands loses no output or exit code (${ROUNDS} rounds)`, async (t) => {
  let recorded = 0;
  let running = 0;
  let neverRan = 0;
  const unsettled: Writing[] = [];
  const ran = new Set<string>();
  for (let round = 0; round < ROUNDS; round++) {
    const all = writings(round);
    const other = await OtherGateway.open(fixture);
    other.tell({ call: "hurry", requests: all.map(writingRequest) });
    await someHaveBegun(round, below(COMMANDS));
    await pause(below(20));
    await other.kill();

    const gateway = await fixture.open();
    const sessions = gateway.list({ limit: COMMANDS }).filter(({ name }) => name.startsWith(`round-${round}-`));
    running += sessions.filter(({ status }) => status === "running").length;
    recorded += sessions.length;
    for (const { name } of sessions) {
      const writing = all.find((each) => each.name === name);
      assert.ok(writing);
      const session = gateway.session(name);
      const claimed = existsSync(fixture.sessionFolder(session.id));
      if (claimed) await session.wait();
      if (session.info().status === "running") unsettled.push(writing);
      else check(gateway, writing, ran);
    }
    await gateway.close();
  }
  const gateway = await fixture.open();
  for (const writing of unsettled) {
    await until(
      `session ${writing.name} has ended`,
      () => gateway.session(writing.name).info().status !== "running",
      GIVEN_UP_MS,
    );
    check(gateway, writing, ran);
    if (!ran.has(writing.name)) neverRan++;
  }
  const files = readdirSync(notes);
  assert.deepEqual(
    files.filter((name) => name.endsWith(".again")),
    [],
    "a command ran twice",
  );
  const began = files.filter((name) => name.endsWith(".began")).map((name) => name.slice(0, -6));
  assert.deepEqual(
    began.filter((name) => !ran.has(name)),
    [],
    "a command ran without a session row",
  );
  assert.equal(gateway.count({ status: "lost" }), 0);
  t.diagnostic(
    `${recorded} sessions, ${running} of them running when the gateway was killed, ${neverRan} never launched`,
  );
});
