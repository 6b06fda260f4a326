import assert from "node:assert/strict";
import { test } from "node:test";
import { signalOption } from "../../../src/cli/options.ts";

test("signals go by name or number", () => {
  for (const text of ["TERM", "term", "SIGTERM", "sigterm"])
    assert.equal(signalOption({ signal: text }, "signal"), "SIGTERM");
  for (const text of ["1", "15", "64"]) assert.equal(signalOption({ signal: text }, "signal"), text);
  for (const text of ["0", "65", "-9"])
    assert.throws(() => signalOption({ signal: text }, "signal"), /must be a signal/);
  assert.throws(() => signalOption({ signal: "TREM" }, "signal"), {
    message: "`--signal` must be a signal such as TERM, SIGINT or 9 (`SIGTERM`?); received `TREM`",
  });
});
