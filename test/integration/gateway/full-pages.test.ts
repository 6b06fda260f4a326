import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, test } from "node:test";
import { GatewayFixture } from "../../fixtures/gateway.ts";

const fixture = new GatewayFixture();
after(() => fixture.close());

test("sessions found to have ended leave no gap in a page and do not end the list", async () => {
  const gateway = await fixture.open();
  const living = await gateway.start({ command: "sleep 1000" });
  for (let n = 0; n < 3; n++) await gateway.run({ command: "true" });
  const database = new DatabaseSync(join(fixture.state, "sallyport.db"), { timeout: 20_000 });
  // The state of rows whose exit has not been recorded yet.
  const unsettle = () => database.exec("UPDATE sessions SET status = 'running', record = NULL, ended_ms = NULL");
  try {
    unsettle();
    const ids = gateway.list({ live: true, limit: 2 }).map(({ id }) => id);
    assert.deepEqual(ids, [living.id]);
    unsettle();
    const page = await gateway.sessions({ live: true, limit: 1 });
    assert.deepEqual([page.sessions.map(({ id }) => id), page.next, page.total], [[living.id], null, 1]);
  } finally {
    database.close();
  }
  await living.kill();
});
