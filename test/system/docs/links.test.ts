import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { test } from "node:test";
import { anchors, withoutCode } from "../../../scripts/docs/markdown.ts";
import { pages, ROOT } from "./pages.ts";

const all = pages();
const anchorsOf = new Map(all.map(({ path, text }) => [path, anchors(text)]));

/** Returns why a link on a page is broken, or null when its target exists. */
function fault(path: string, link: string): string | null {
  const [file = "", anchor] = link.split("#");
  const target = file === "" ? path : relative(ROOT, join(ROOT, dirname(path), file));
  if (!existsSync(join(ROOT, target))) return `${link}: no such file`;
  if (anchor === undefined || anchorsOf.get(target)?.includes(anchor)) return null;
  return `${link}: no such heading in ${target}`;
}

for (const { path, text } of all) {
  test(`the links and anchors on ${path} exist`, () => {
    const links = [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => target);
    const local = links.filter((target) => !/^(https?|mailto):/.test(target));
    assert.deepEqual(
      local.map((link) => fault(path, link)).filter((each) => each !== null),
      [],
    );
  });

  test(`the pages that ${path} names exist`, () => {
    const named = [...text.matchAll(/\bdocs\/[a-z/-]+\.md\b/g)].map(([name]) => name);
    assert.deepEqual(
      named.filter((name) => !existsSync(join(ROOT, name))),
      [],
    );
  });
}
