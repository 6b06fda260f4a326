import { setTimeout as sleep } from "node:timers/promises";
import { openDatabase } from "../../src/storage/database.ts";
import { WorkQueue } from "../../src/storage/work.ts";

// work-worker.ts DATABASE enqueue COUNT | drain NAME | hold LEASE_MS: what another gateway would do to the queue.
const [path = "", action = "", given = ""] = process.argv.slice(2);
const database = openDatabase(path);
const queue = new WorkQueue(database);
const say = (text: string) => process.stdout.write(`${text}\n`);

if (action === "enqueue") {
  for (let number = 0; number < Number(given); number++) {
    if (queue.enqueue({ key: `key ${number}`, type: "T", priority: "NORMAL", payload: { number } }))
      say(String(number));
  }
}
if (action === "drain") {
  for (let item = queue.claim({ worker: given }); item; item = queue.claim({ worker: given })) {
    say(`${item.id} ${item.attempts}`);
    if (item.id % 10 === 0) await sleep(1);
    queue.ack(item.id, item.lease);
  }
}
if (action === "hold") {
  const item = await queue.next({ worker: "holder", leaseMs: Number(given) });
  say(`holds ${item?.id}`);
  await sleep(60_000);
}
database.close();
