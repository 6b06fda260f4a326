import assert from "node:assert/strict";
import { test } from "node:test";
import { NO_NATS } from "../../fixtures/nats.ts";
import { breakThings } from "./chaos/faults.ts";
import { ChaosFixture } from "./chaos/fixture.ts";
import { newCommand, sendAll } from "./chaos/load.ts";
import { reconcile, settled } from "./chaos/reconcile.ts";

/** The short faults. `npm run chaos` injects all of them, with up to ten thousand commands. */
const FAULTS = ["kill -9 of a worker", "kill -9 of a gateway", "kill -9 of one server of three"];
const LEAST = 60;

test("under injected faults, each command runs at most once and every command is accounted for", {
  skip: NO_NATS,
}, async () => {
  const fixture = new ChaosFixture({ workers: 2, gateways: 2, slots: 8, namespaces: false, claimWithinMs: 20_000 });
  try {
    await fixture.open();
    let [broken, asked, over] = [0, 0, false];
    const more = () => (over && asked >= LEAST ? null : newCommand(asked++));
    const sending = sendAll(more, fixture.gateways, 4);
    const faults = await breakThings(
      fixture,
      FAULTS,
      () => broken++ >= FAULTS.length,
      () => {},
    );
    assert.deepEqual([...faults.keys()].sort(), [...FAULTS].sort());
    over = true;
    const commands = await sending;
    await settled(fixture, 180_000);
    const account = await reconcile(
      fixture,
      commands,
      fixture.workers.map(({ name }) => name),
    );
    assert.deepEqual(account.wrong, []);
    assert.ok((account.statuses.completed ?? 0) > commands.length / 2, JSON.stringify(account));
  } finally {
    await fixture.close();
  }
});
