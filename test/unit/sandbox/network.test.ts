import assert from "node:assert/strict";
import { test } from "node:test";
import type { Network } from "../../../src/core/settings.ts";
import { intersectNetworks, isNetworkWithin } from "../../../src/core/settings.ts";

const ALL: Network[] = ["on", "off", { ports: [] }, { ports: [80] }, { ports: [80, 443] }, { ports: [22] }];

/** 0 stands for everything that is not a TCP port, 1 for the machine's unix sockets, which only `off` keeps from. */
function reached(network: Network): number[] {
  if (network === "on") return [0, 1, 22, 80, 443];
  return network === "off" ? [] : [1, ...network.ports];
}

test("one network reaches no more than another exactly when everything it reaches the other does", () => {
  for (const one of ALL) {
    for (const other of ALL) {
      const within = reached(one).every((port) => reached(other).includes(port));
      assert.equal(isNetworkWithin(one, other), within, JSON.stringify([one, other]));
    }
  }
});

test("of two networks what both reach is left", () => {
  for (const one of ALL) {
    for (const other of ALL) {
      const both = reached(one).filter((port) => reached(other).includes(port));
      assert.deepEqual(reached(intersectNetworks(one, other)), both, JSON.stringify([one, other]));
    }
  }
});
