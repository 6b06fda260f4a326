import assert from "node:assert/strict";
import { test } from "node:test";
import type { Network } from "../../../src/core/settings.ts";
import { intersectNetworks, isNetworkWithin } from "../../../src/core/settings.ts";

const ALL: Network[] = ["on", "off", { ports: [] }, { ports: [80] }, { ports: [80, 443] }, { ports: [22] }];

/** Returns the allowed TCP ports, plus 0 for all other traffic and 1 for Unix sockets, which only `off` denies. */
function reached(network: Network): number[] {
  if (network === "on") return [0, 1, 22, 80, 443];
  return network === "off" ? [] : [1, ...network.ports];
}

test("a network is within another exactly when the other allows everything it allows", () => {
  for (const one of ALL) {
    for (const other of ALL) {
      const within = reached(one).every((port) => reached(other).includes(port));
      assert.equal(isNetworkWithin(one, other), within, JSON.stringify([one, other]));
    }
  }
});

test("the intersection of two networks allows exactly the traffic that both allow", () => {
  for (const one of ALL) {
    for (const other of ALL) {
      const both = reached(one).filter((port) => reached(other).includes(port));
      assert.deepEqual(reached(intersectNetworks(one, other)), both, JSON.stringify([one, other]));
    }
  }
});
