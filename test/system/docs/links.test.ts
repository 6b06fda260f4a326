import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { pages, ROOT } from "./pages.ts";

for (const { path, text } of pages()) {
  test(`${path} leads nowhere that is not there`, () => {
    const links = [...text.matchAll(/\]\(([^)\s#]+)[^)]*\)/g)].map(([, target = ""]) => target);
    const local = links.filter((target) => !/^https?:/.test(target));
    const broken = local.filter((target) => !existsSync(join(ROOT, dirname(path), target)));
    assert.deepEqual(broken, []);
    const named = [...text.matchAll(/\bdocs\/[a-z-]+\.md\b/g)].map(([name]) => name);
    assert.deepEqual(
      named.filter((name) => !existsSync(join(ROOT, name))),
      [],
    );
  });
}
