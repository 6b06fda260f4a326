import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pages, ROOT } from "./pages.ts";

test("CONTRIBUTING.md says of every dependency why it is there, and of none that is not", () => {
  const text = pages().find(({ path }) => path === "CONTRIBUTING.md")?.text ?? "";
  const [, section = ""] = /^## Dependencies$([\s\S]*?)(?=^## |$(?![\s\S]))/m.exec(text) ?? [];
  const told = [...section.matchAll(/`(@?[a-z][\w./-]*)`/g)].map(([, name]) => name as string);
  const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as Record<string, object>;
  const kinds = ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"];
  const there = new Set(kinds.flatMap((kind) => Object.keys(manifest[kind] ?? {})));
  assert.deepEqual(
    [...there].filter((name) => !told.includes(name)),
    [],
  );
  assert.deepEqual(
    told.filter((name) => !there.has(name) && name !== "web/"),
    [],
  );
});
