import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, test } from "node:test";
import type { SessionInfo } from "../../../src/core/session.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";
import { OtherGateway } from "../../fixtures/other-gateway.ts";
import { until } from "../../fixtures/until.ts";

const fixture = new GatewayFixture();
const gateways = await Promise.all(
  [0, 1, 2].map((i) => OtherGateway.open(fixture, { options: { agent: `agent-${i}` } })),
);
after(async () => {
  for (const gateway of gateways) await gateway.close();
  await fixture.close();
});

function at(index: number): OtherGateway {
  return gateways[index % gateways.length] as OtherGateway;
}

test("three gateways that start at once share one zygote", async () => {
  const results = await Promise.all(
    gateways.map((gateway, i) => gateway.ask<{ stdout: string }>({ call: "run", request: { command: `echo ${i}` } })),
  );
  assert.deepEqual(
    results.map(({ stdout }) => stdout),
    ["0\n", "1\n", "2\n"],
  );
  const { zygotesOf } = await import("../../fixtures/processes.ts");
  await until("exactly one zygote is running", () => zygotesOf(fixture.state).length === 1);
});

test("a session started by one gateway can be listed, read, awaited and killed by others", async () => {
  for (let i = 0; i < 3; i++) {
    const { id, name } = await at(i).ask<SessionInfo>({
      call: "start",
      request: { command: "echo hello; sleep 60; :" },
    });
    for (const gateway of gateways) {
      const listed = await gateway.ask<SessionInfo[]>({ call: "list", options: { status: "running" } });
      assert.ok(listed.some((info) => info.id === id && info.name === name && info.agent === `agent-${i}`));
      await until("the output is written", async () => (await gateway.ask({ call: "logs", id: name })) === "hello\n");
    }
    const waiting = at(i + 2).ask<SessionInfo>({ call: "wait", id });
    assert.equal((await at(i + 1).ask<SessionInfo>({ call: "kill", id: name })).status, "killed");
    assert.equal((await waiting).status, "killed");
    assert.equal((await at(i).ask<SessionInfo>({ call: "info", id })).status, "killed");
  }
});

test("another gateway records the exit of a session whose gateway was killed", async () => {
  const doomed = await OtherGateway.open(fixture);
  const { id } = await doomed.ask<SessionInfo>({ call: "start", request: { command: "sleep 0.7; exit 9" } });
  const waiting = Promise.all(gateways.map((gateway) => gateway.ask<SessionInfo>({ call: "wait", id })));
  await doomed.kill();
  for (const info of await waiting) assert.deepEqual([info.status, info.exitCode], ["completed", 9]);
});

test("exactly one gateway records an exit", async () => {
  const database = new DatabaseSync(join(fixture.state, "sallyport.db"), { timeout: 20_000 });
  database.exec(`
    CREATE TABLE endings (id TEXT);
    CREATE TRIGGER count_endings AFTER UPDATE OF status ON sessions WHEN NEW.status <> 'running'
    BEGIN INSERT INTO endings VALUES (NEW.id); END;
  `);
  const ids: string[] = [];
  for (let i = 0; i < 30; i++) {
    const { id } = await at(i).ask<SessionInfo>({ call: "start", request: { command: `sleep 0.${i % 3}; exit ${i}` } });
    ids.push(id);
  }
  for (const id of ids) await Promise.all(gateways.map((gateway) => gateway.ask({ call: "wait", id })));
  for (const gateway of gateways) await gateway.ask({ call: "list" });
  const counted = database.prepare("SELECT id, count(*) AS n FROM endings GROUP BY id").all();
  assert.deepEqual(new Map(counted.map(({ id, n }) => [id, n])), new Map(ids.map((id) => [id, 1])));
  database.exec("DROP TRIGGER count_endings; DROP TABLE endings;");
  database.close();
});

test("a name is assigned once, even to concurrent requests", async () => {
  const asks = gateways.map((gateway) =>
    gateway.ask<SessionInfo>({ call: "start", request: { command: "true", name: "wanted" } }),
  );
  const outcomes = (await Promise.allSettled(asks)).map((outcome) =>
    outcome.status === "fulfilled" ? "given" : (outcome.reason as { type: string }).type,
  );
  assert.deepEqual(outcomes.sort(), ["NameInUse", "NameInUse", "given"]);
});

test("many concurrent commands of three gateways all succeed", async () => {
  const rounds = Array.from({ length: 40 }, (_, i) => i);
  await Promise.all(
    gateways.map(async (gateway, g) => {
      for (const i of rounds) {
        const result = await gateway.ask<{ stdout: string; exitCode: number }>({
          call: "run",
          request: { command: `echo ${g} ${i}; exit ${i}` },
        });
        assert.deepEqual([result.stdout, result.exitCode], [`${g} ${i}\n`, i]);
      }
    }),
  );
});

test("other gateways take over the commands of a closed gateway", async () => {
  const leaver = await OtherGateway.open(fixture);
  const { id } = await leaver.ask<SessionInfo>({ call: "start", request: { command: "sleep 0.5; echo done" } });
  await leaver.close();
  assert.equal((await at(0).ask<SessionInfo>({ call: "wait", id })).status, "completed");
  assert.equal(await at(1).ask({ call: "logs", id }), "done\n");
});
