/** Members that the servers let in and that lie: what they say of others' sessions counts for nothing. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Book } from "../../src/executor/fleet/book.ts";
import { type Link, openLink } from "../../src/executor/fleet/link.ts";
import { newId } from "../../src/session/id.ts";
import type { Worker } from "../../src/surfaces/worker/worker.ts";
import { TestFleet } from "../fixtures/fleet.ts";
import type { TestHouse } from "../fixtures/gateway.ts";
import { NO_NATS } from "../fixtures/nats.ts";
import { until } from "../fixtures/until.ts";

const skip = NO_NATS;
let fleet: TestFleet;
let house: TestHouse;
let worker: Worker;
let liar: Link;

before(async () => {
  if (skip) return;
  fleet = await TestFleet.start();
  house = fleet.house();
  worker = await fleet.worker("w1", {}, house);
  liar = await openLink({ servers: fleet.servers, as: "liar" }, "gateway");
});

after(async () => {
  await liar?.nc.close();
  await fleet?.close();
});

const summaries = (session: string) => worker.door.audit.search({ session }).map(({ summary }) => summary);
const ended = async (agent: string, id: string) =>
  (await new Book(liar.sessions).read(agent, id))?.entry.state === "ended";

/** Work as a gateway sends it, but for what the test says. */
async function send(changes: { agent?: string; id?: string; [key: string]: unknown }): Promise<string> {
  const { agent = "a", id = newId() } = changes;
  const work = {
    version: 1,
    id,
    attempt: 1,
    agent,
    to: { gateway: "liar", process: "p" },
    workspace: { name: "shop", sticky: false },
    background: false,
    request: { command: "pwd; echo mine > mark" },
    sentMs: Date.now(),
    ...changes,
  };
  await liar.js.publish(liar.subjects.work("any", agent), JSON.stringify(work));
  return id;
}

test("a workspace's name leads to no folder but its agent's own", { skip }, async () => {
  for (const name of ["../../outside", "..", "/tmp/outside", "a/b", "."]) {
    const id = await send({ workspace: { name, sticky: false } });
    await until(`${name} is refused`, async () => await ended("a", id));
    const error = (await new Book(liar.sessions).read("a", id))?.entry.account?.error;
    assert.equal(error?.type, "InvalidRequest", name);
  }
  assert.ok(!existsSync(join(house.folder, "outside")));
  // Whoever comes by the wire's checks is stopped where the folder is made.
  const errand = {
    id: newId(),
    agent: "a",
    background: false,
    request: { command: "true" },
    vouch: () => assert.fail(),
  };
  await assert.rejects(async () => worker.door.take({ ...errand, workspace: "../outside" }), {
    type: "InvalidRequest",
  });

  const ids = [await send({ agent: "a" }), await send({ agent: "team/b" })] as const;
  await until("both have run", async () => (await ended("a", ids[0])) && (await ended("team/b", ids[1])));
  const folders = ["a", "team=2Fb"].map((agent) => join(house.folder, "workspaces", agent, "shop", "mark"));
  assert.deepEqual(folders.map(existsSync), [true, true]);
});

test("an id that is another agent's session here is not taken, and says nothing of it", { skip }, async () => {
  const id = await send({ agent: "a" });
  await until("it has run", async () => await ended("a", id));
  await send({ agent: "b", id });
  await until("it is written down", () => summaries(id).some((each) => each.includes("another agent's")));
  assert.equal(await new Book(liar.sessions).read("b", id), null);
  assert.equal(worker.door.row(id)?.agent, "a");
});
