import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { deniedPaths } from "../../../src/sandbox/masked-paths.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "sallyport-denied-")));
after(() => rmSync(folder, { recursive: true }));

const home = join(folder, "home");
mkdirSync(home);

test("credentials, histories and browsers of every home are denied, there or not", () => {
  const other = join(folder, "other");
  const denied = deniedPaths({ homes: [home, other], keepOut: [], added: [] });
  for (const name of [
    ".ssh",
    ".gnupg",
    ".aws",
    ".config/gcloud",
    ".kube",
    ".netrc",
    ".npmrc",
    ".bash_history",
    ".mozilla",
  ]) {
    assert.ok(denied.includes(join(home, name)), name);
    assert.ok(denied.includes(join(other, name)), `${name} of the other`);
  }
});

test("Sallyport's own folders and what is added are denied, nested ones named once", () => {
  const state = join(folder, "state");
  const denied = deniedPaths({ homes: [], keepOut: [state], added: [join(state, "sessions"), "/srv/secrets"] });
  assert.ok(denied.includes(state));
  assert.ok(denied.includes("/srv/secrets"));
  assert.ok(!denied.includes(join(state, "sessions")));
});

test("a link is denied by its name and by where it leads", () => {
  const keys = join(folder, "keys");
  mkdirSync(keys);
  symlinkSync(keys, join(home, ".ssh"));
  const denied = deniedPaths({ homes: [home], keepOut: [], added: [] });
  assert.ok(denied.includes(join(home, ".ssh")));
  assert.ok(denied.includes(keys));
});

test("folders on the way are followed, also where the last part does not exist", () => {
  mkdirSync(join(folder, "real"));
  symlinkSync(join(folder, "real"), join(folder, "way"));
  const denied = deniedPaths({ homes: [], keepOut: [], added: [join(folder, "way", "a", "b")] });
  assert.ok(denied.includes(join(folder, "real", "a", "b")), denied.join("\n"));
});

test("a home that is the root, or none, denies nothing at random places", () => {
  const denied = deniedPaths({ homes: ["/", "", "relative"], keepOut: [], added: [] });
  assert.ok(!denied.includes("/.ssh"));
  assert.ok(denied.every((path) => path.startsWith("/")));
});
