import assert from "node:assert/strict";
import { posix } from "node:path";
import { test } from "node:test";
import { BROWSERS, CREDENTIALS, HISTORIES } from "../../../src/sandbox/credential-paths.ts";

const ALL = [...CREDENTIALS, ...HISTORIES, ...BROWSERS];

test("each credential path is a plain relative path with a program and a source", () => {
  for (const { path, of, source } of ALL) {
    assert.ok(path !== "" && !path.startsWith("/") && posix.normalize(path) === path && !path.endsWith("/"), path);
    assert.ok(of !== "" && source.length > 3, `${path} has no program or no source`);
  }
});

test("no credential path is listed twice or inside another", () => {
  const paths = ALL.map(({ path }) => path);
  for (const path of paths) {
    const outer = paths.filter((other) => path.startsWith(`${other}/`));
    assert.deepEqual(outer, [], `${path} is inside another entry`);
    assert.equal(paths.filter((other) => other === path).length, 1, path);
  }
});
