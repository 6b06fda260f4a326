import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { after, test } from "node:test";
import { keeperBinary } from "../../../src/executor/native/zygote.ts";
import { nativeUnavailableReason, selectExecutor } from "../../../src/executor/select-executor.ts";
import { TestHouse } from "../../fixtures/gateway.ts";
import { OtherGateway } from "../../fixtures/other-gateway.ts";

const house = new TestHouse();
after(() => house.close());

test("the native executor is taken where its keeper runs", () => {
  assert.deepEqual(selectExecutor(house.state, {}), { kind: "native", asked: false, reason: null });
  assert.deepEqual(selectExecutor(house.state, { SALLYPORT_EXECUTOR: "" }).kind, "native");
});

test("who asks for one gets it", () => {
  for (const kind of ["native", "portable"] as const) {
    assert.deepEqual(selectExecutor(house.state, { SALLYPORT_EXECUTOR: kind }), { kind, asked: true, reason: null });
  }
  assert.equal(selectExecutor(house.state, { SALLYPORT_KEEPER: "/no/such/keeper" }).kind, "native");
});

test("without a keeper that runs it is the portable one, with the reason", () => {
  assert.match(nativeUnavailableReason(house.state, "darwin", keeperBinary()) ?? "", /for Linux, and this is darwin/);
  assert.match(nativeUnavailableReason(house.state, "linux", house.path("none")) ?? "", /has not been built/);
  writeFileSync(house.path("keeper.id"), "abc");
  writeFileSync(house.path("keeper"), "not a program", { mode: 0o644 });
  assert.match(
    nativeUnavailableReason(house.state, "linux", house.path("keeper")) ?? "",
    /does not run here \(.*EACCES/,
  );
  writeFileSync(house.path("other.id"), "abc");
  writeFileSync(house.path("other"), "#!/bin/sh\nexit 9\n", { mode: 0o755 });
  assert.match(
    nativeUnavailableReason(house.state, "linux", house.path("other")) ?? "",
    /does not run here \(exit code 9\)/,
  );
  assert.equal(nativeUnavailableReason(house.state, "linux", keeperBinary()), null);
});

test("a wrong name is told, with what may be said instead", async () => {
  for (const wrong of ["Native", "docker", "portable ", "\u001b[31m"]) {
    assert.throws(() => selectExecutor(house.state, { SALLYPORT_EXECUTOR: wrong }), {
      type: "InvalidConfiguration",
      message: /must be "native" or "portable"/,
    });
  }
  await assert.rejects(OtherGateway.open(house, { env: { SALLYPORT_EXECUTOR: "docker" } }), {
    type: "InvalidConfiguration",
  });
});
