import assert from "node:assert/strict";
import { linkSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { GatewayFixture } from "../../fixtures/gateway.ts";

const fixture = new GatewayFixture();
after(() => fixture.close());

/** Creates a workspace in which the files of a package are links to those of a store, as pnpm and uv create them. */
function workspace(packages: string, store: string): string {
  const place = realpathSync(mkdtempSync(join(fixture.folder, "workspace-")));
  const from = store.startsWith("/") ? store : join(place, store);
  mkdirSync(from, { recursive: true });
  mkdirSync(join(place, packages), { recursive: true });
  for (const name of ["index.js", "package.json"]) {
    writeFileSync(join(from, name), name, { flag: "a" });
    linkSync(join(from, name), join(place, packages, name));
  }
  return place;
}

async function warningsIn(place: string): Promise<string[]> {
  const gateway = await fixture.open({ workspace: place, policy: {} });
  const { warnings } = await gateway.run({ command: "true" });
  await gateway.close();
  return warnings.filter((text) => text.includes("hard link"));
}

for (const packages of ["node_modules/.pnpm/a@1/node_modules/a", ".venv/lib/python3/site-packages/a"]) {
  test(`the first result names a hard link in ${packages}`, async () => {
    const store = mkdtempSync(join(fixture.folder, "store-"));
    const place = workspace(packages, store);
    const found = await warningsIn(place);
    assert.equal(found.length, 1);
    assert.ok(found[0]?.includes(join(place, packages)), found[0]);
    assert.deepEqual(await warningsIn(place), [], "the warning was repeated");
  });
}

test("links among the files of a package folder are not reported", async () => {
  const place = workspace("node_modules/a", "node_modules/.store/a");
  assert.deepEqual(await warningsIn(place), []);
});
