import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { test } from "node:test";
import { watchConfig } from "../../../src/config/watch.ts";
import { configFixture } from "../../fixtures/configuration.ts";

test("a changed file applies to the next request and is reported once", (t) => {
  const fixture = configFixture(t);
  const watch = watchConfig(fixture.options, { everyMs: 0 });
  const first = watch.look();
  assert.deepEqual([first.changed, first.config.settings.security], [false, "full"]);

  fixture.operatorSays({ security: "allowlist" });
  assert.deepEqual([watch.look().changed, watch.look().changed], [true, false]);
  assert.equal(watch.look().config.settings.security, "allowlist");

  fixture.workspaceSays({ security: "deny" });
  assert.equal(watch.look().config.settings.security, "deny");
  rmSync(fixture.file);
  assert.deepEqual([watch.look().changed, watch.look().config.settings.security], [true, "allowlist"]);
});

test("a file that becomes invalid is reported until it is fixed, and changes nothing", (t) => {
  const fixture = configFixture(t);
  fixture.operatorSays({ security: "allowlist" });
  const watch = watchConfig(fixture.options, { everyMs: 0 });
  fixture.operatorSays("{");
  const look = watch.look();
  assert.deepEqual(
    [look.changed, look.problem?.type, look.config.settings.security],
    [true, "InvalidConfiguration", "allowlist"],
  );
  assert.deepEqual([watch.look().changed, watch.look().problem?.type], [false, "InvalidConfiguration"]);
  fixture.operatorSays({ security: "deny" });
  assert.deepEqual([watch.look().config.settings.security, watch.look().problem], ["deny", null]);
});

test("an invalid file prevents the start", (t) => {
  const fixture = configFixture(t);
  fixture.workspaceSays("nonsense");
  assert.throws(() => watchConfig(fixture.options), { type: "InvalidConfiguration" });
});

test("reads no file before the check interval has passed", (t) => {
  const fixture = configFixture(t);
  const watch = watchConfig(fixture.options, { everyMs: 60_000 });
  fixture.operatorSays({ security: "deny" });
  assert.equal(watch.look().config.settings.security, "full");
  const cpu = process.cpuUsage();
  for (let i = 0; i < 10_000; i++) watch.look();
  assert.equal(process.cpuUsage(cpu).system < 500_000, true, "10,000 checks took more than 0.5 s of system CPU time");
});
