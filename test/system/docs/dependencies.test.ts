import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pages, ROOT } from "./pages.ts";

test("CONTRIBUTING.md lists exactly the dependencies of the package", () => {
  const text = pages().find(({ path }) => path === "CONTRIBUTING.md")?.text ?? "";
  const [, section = ""] = /^## Dependencies$([\s\S]*?)(?=^## |$(?![\s\S]))/m.exec(text) ?? [];
  const listed = [...section.matchAll(/`(@?[a-z][\w./-]*)`/g)].map(([, name]) => name as string);
  const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as Record<string, object>;
  const kinds = ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"];
  const declared = new Set(kinds.flatMap((kind) => Object.keys(manifest[kind] ?? {})));
  assert.deepEqual(
    [...declared].filter((name) => !listed.includes(name)),
    [],
  );
  assert.deepEqual(
    listed.filter((name) => !declared.has(name) && name !== "web/"),
    [],
  );
});
