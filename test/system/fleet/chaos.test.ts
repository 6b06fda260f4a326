import assert from "node:assert/strict";
import { test } from "node:test";
import { NO_NATS } from "../../fixtures/nats.ts";
import { breakThings } from "./chaos/faults.ts";
import { ChaosHouse } from "./chaos/house.ts";
import { newCommand, sendAll } from "./chaos/load.ts";
import { reconcile, settled } from "./chaos/reconcile.ts";

/** The short ones; `npm run chaos` does all of them, to ten thousand commands. */
const FAULTS = ["kill -9 of a worker", "kill -9 of a gateway", "kill -9 of one server of three"];
const LEAST = 60;

test("whatever is killed or cut off, each command runs at most once and all are accounted for", {
  skip: NO_NATS,
}, async () => {
  const house = new ChaosHouse({ workers: 2, gateways: 2, slots: 8, namespaces: false, claimWithinMs: 20_000 });
  try {
    await house.open();
    let [broken, asked, over] = [0, 0, false];
    const more = () => (over && asked >= LEAST ? null : newCommand(asked++));
    const sending = sendAll(more, house.gateways, 4);
    const faults = await breakThings(
      house,
      FAULTS,
      () => broken++ >= FAULTS.length,
      () => {},
    );
    assert.deepEqual([...faults.keys()].sort(), [...FAULTS].sort());
    over = true;
    const commands = await sending;
    await settled(house, 180_000);
    const account = await reconcile(
      house,
      commands,
      house.workers.map(({ name }) => name),
    );
    assert.deepEqual(account.wrong, []);
    assert.ok((account.statuses.completed ?? 0) > commands.length / 2, JSON.stringify(account));
  } finally {
    await house.close();
  }
});
