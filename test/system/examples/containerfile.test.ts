import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";
import { freePort } from "../../fixtures/free-port.ts";
import { killAndWait } from "../../fixtures/processes.ts";
import { Sandbox } from "../../fixtures/sallyport.ts";

const TEXT = readFileSync(new URL("../../../examples/Containerfile", import.meta.url), "utf8");
const sandbox = new Sandbox();
after(() => sandbox.remove());

/** Returns the arguments of `CMD [...]` and `HEALTHCHECK ... CMD ["sallyport", ...]` of a stage. */
function stage(name: string): { command: string[]; health: string[] } {
  const [, text = ""] = TEXT.split(new RegExp(`^FROM base AS ${name}$`, "m"));
  const [own = ""] = text.split(/^FROM /m);
  const [, command = "[]"] = /^CMD (.*)$/m.exec(own) ?? [];
  const [, health = "[]"] = /^HEALTHCHECK .* CMD (.*)$/m.exec(own) ?? [];
  const [program, ...args] = JSON.parse(health) as string[];
  assert.equal(program, "sallyport");
  return { command: JSON.parse(command), health: args };
}

test("the health check of the image succeeds once its gateway accepts requests, and fails when it has stopped", async () => {
  const { command, health } = stage("gateway");
  assert.ok(command.includes("0.0.0.0:4180"), command.join(" "));
  assert.deepEqual(health, ["service", "ready"]);
  // The port of the image may be in use on this machine.
  const port = await freePort();
  const check = [...health, `http://127.0.0.1:${port}`];
  const gateway = sandbox.spawn(command.map((word) => word.replace(":4180", `:${port}`)));
  const ready = await sandbox.run([...check, "--wait", "60s"]);
  assert.equal(ready.code, 0, ready.stderr);
  await killAndWait(gateway, "SIGTERM");
  assert.equal((await sandbox.run(check)).code, 1);
});

test("the health check of the worker image names the fleet that it needs", async () => {
  const { command, health } = stage("worker");
  assert.deepEqual(command, ["worker"]);
  const { code, stderr } = await sandbox.run(health, { env: { SALLYPORT_FLEET: "nats://127.0.0.1:9" } });
  assert.equal(code, 1);
  assert.match(stderr, /not ready: .*127\.0\.0\.1:9/s);
});
