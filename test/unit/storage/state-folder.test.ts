import assert from "node:assert/strict";
import { userInfo } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { defaultState } from "../../../src/storage/state-folder.ts";

test("a relative HOME or XDG_STATE_HOME does not put the state folder below the working directory", (t) => {
  const before = process.env.HOME;
  t.after(() => {
    if (before === undefined) delete process.env.HOME;
    else process.env.HOME = before;
  });
  const own = join(userInfo().homedir, ".local/state/sallyport");
  for (const home of ["relative", ".", ""]) {
    process.env.HOME = home;
    assert.equal(defaultState({}), own, home);
    assert.equal(defaultState({ XDG_STATE_HOME: "state" }), own, home);
  }
  assert.equal(defaultState({ XDG_STATE_HOME: "/srv/state" }), "/srv/state/sallyport");
});
