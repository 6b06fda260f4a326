import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { test } from "node:test";
import { watchConfig } from "../../../src/config/watch.ts";
import { configHouse } from "../../fixtures/configuration.ts";

test("a changed file holds for the next request, and is told once", (t) => {
  const house = configHouse(t);
  const watch = watchConfig(house.options, { everyMs: 0 });
  const first = watch.look();
  assert.deepEqual([first.changed, first.config.settings.security], [false, "full"]);

  house.operatorSays({ security: "allowlist" });
  assert.deepEqual([watch.look().changed, watch.look().changed], [true, false]);
  assert.equal(watch.look().config.settings.security, "allowlist");

  house.workspaceSays({ security: "deny" });
  assert.equal(watch.look().config.settings.security, "deny");
  rmSync(house.file);
  assert.deepEqual([watch.look().changed, watch.look().config.settings.security], [true, "allowlist"]);
});

test("a file that has become bad changes nothing but is told until it is mended", (t) => {
  const house = configHouse(t);
  house.operatorSays({ security: "allowlist" });
  const watch = watchConfig(house.options, { everyMs: 0 });
  house.operatorSays("{");
  const look = watch.look();
  assert.deepEqual(
    [look.changed, look.problem?.type, look.config.settings.security],
    [true, "InvalidConfiguration", "allowlist"],
  );
  assert.deepEqual([watch.look().changed, watch.look().problem?.type], [false, "InvalidConfiguration"]);
  house.operatorSays({ security: "deny" });
  assert.deepEqual([watch.look().config.settings.security, watch.look().problem], ["deny", null]);
});

test("a bad file stops the start", (t) => {
  const house = configHouse(t);
  house.workspaceSays("nonsense");
  assert.throws(() => watchConfig(house.options), { type: "InvalidConfiguration" });
});

test("a look between two checks asks nobody", (t) => {
  const house = configHouse(t);
  const watch = watchConfig(house.options, { everyMs: 60_000 });
  house.operatorSays({ security: "deny" });
  assert.equal(watch.look().config.settings.security, "full");
  const cpu = process.cpuUsage();
  for (let i = 0; i < 10_000; i++) watch.look();
  assert.equal(process.cpuUsage(cpu).system < 500_000, true, "10,000 looks took half a second of the kernel's time");
});
