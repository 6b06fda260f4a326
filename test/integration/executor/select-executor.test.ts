import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { after, test } from "node:test";
import { keeperBinary } from "../../../src/executor/native/zygote.ts";
import { nativeUnavailableReason, selectExecutor } from "../../../src/executor/select-executor.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";
import { OtherGateway } from "../../fixtures/other-gateway.ts";

const fixture = new GatewayFixture();
after(() => fixture.close());

test("selects the native executor if its keeper runs", () => {
  assert.deepEqual(selectExecutor(fixture.state, {}), { kind: "native", asked: false, reason: null });
  assert.deepEqual(selectExecutor(fixture.state, { SALLYPORT_EXECUTOR: "" }).kind, "native");
});

test("selects the executor that the environment names", () => {
  for (const kind of ["native", "portable"] as const) {
    assert.deepEqual(selectExecutor(fixture.state, { SALLYPORT_EXECUTOR: kind }), { kind, asked: true, reason: null });
  }
  assert.equal(selectExecutor(fixture.state, { SALLYPORT_KEEPER: "/no/such/keeper" }).kind, "native");
});

test("selects the portable executor if the keeper does not run, and reports the reason", () => {
  assert.match(nativeUnavailableReason(fixture.state, "darwin", keeperBinary()) ?? "", /requires Linux, not darwin/);
  assert.match(nativeUnavailableReason(fixture.state, "linux", fixture.path("none")) ?? "", /has not been built/);
  writeFileSync(fixture.path("keeper.id"), "abc");
  writeFileSync(fixture.path("keeper"), "not a program", { mode: 0o644 });
  assert.match(
    nativeUnavailableReason(fixture.state, "linux", fixture.path("keeper")) ?? "",
    /does not start \(.*EACCES/,
  );
  writeFileSync(fixture.path("other.id"), "abc");
  writeFileSync(fixture.path("other"), "#!/bin/sh\nexit 9\n", { mode: 0o755 });
  assert.match(
    nativeUnavailableReason(fixture.state, "linux", fixture.path("other")) ?? "",
    /does not start \(exit code 9\)/,
  );
  assert.equal(nativeUnavailableReason(fixture.state, "linux", keeperBinary()), null);
});

test("rejects an unknown executor and lists the valid ones", async () => {
  for (const wrong of ["Native", "docker", "portable ", "\u001b[31m"]) {
    assert.throws(() => selectExecutor(fixture.state, { SALLYPORT_EXECUTOR: wrong }), {
      type: "InvalidConfiguration",
      message: /must be "native" or "portable"/,
    });
  }
  await assert.rejects(OtherGateway.open(fixture, { env: { SALLYPORT_EXECUTOR: "docker" } }), {
    type: "InvalidConfiguration",
  });
});
