import assert from "node:assert/strict";
import { homedir } from "node:os";
import { test } from "node:test";
import { stateFolder } from "../../../src/cli/open.ts";

test("the state folder: the option, then the variable, then XDG, then home", () => {
  assert.equal(stateFolder("/a/../b", { SALLYPORT_STATE: "/c" }), "/b");
  assert.equal(stateFolder(undefined, { SALLYPORT_STATE: "/c", XDG_STATE_HOME: "/d" }), "/c");
  assert.equal(stateFolder(undefined, { SALLYPORT_STATE: "", XDG_STATE_HOME: "/d" }), "/d/sallyport");
  assert.equal(stateFolder(undefined, {}), `${homedir()}/.local/state/sallyport`);
});
