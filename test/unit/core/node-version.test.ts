import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { importsOf, ROOT } from "../architecture/import-graph.ts";

/** The exports of built-in modules in Node 18. */
const KNOWN = JSON.parse(readFileSync(join(ROOT, "test/fixtures/node-18-modules.json"), "utf8")) as Record<
  string,
  string[]
>;

test("importing the library with an old version of Node fails with one sentence", () => {
  const folder = mkdtempSync(join(tmpdir(), "sallyport-node-"));
  const preload = join(folder, "old.cjs");
  writeFileSync(
    preload,
    'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.20.2" } });',
  );
  const script = `import(${JSON.stringify(join(ROOT, "src/index.ts"))}).catch(({ message }) => console.log(message));`;
  const { stdout, status } = spawnSync(process.execPath, ["-r", preload, "-e", script], { encoding: "utf8" });
  rmSync(folder, { recursive: true });
  assert.equal(status, 0);
  assert.equal(
    stdout,
    "sallyport requires Node 22.19 or newer; this is v20.20.2. Install it from https://nodejs.org.\n",
  );
});

test("the library imports only what built-in modules of Node 18 export, so that it can report an old version", () => {
  const [first] = importsOf("src/index.ts");
  assert.equal(first, "src/node-version.ts");
  const files = new Set(["src/index.ts"]);
  for (const file of files) for (const target of importsOf(file)) files.add(target);
  const missing = [...files].flatMap((file) => {
    const text = readFileSync(join(ROOT, file), "utf8");
    // A missing module or export is an error before any code runs, so also before the version is checked.
    const imports = [...text.matchAll(/^import (type )?\{([^}]*)\} from "(node:[^"]+)";$/gm)];
    return imports.flatMap(([, isType, names = "", module = ""]) =>
      names
        .split(",")
        .map((name) => name.trim().replace(/ as .*/, ""))
        .filter((name) => !isType && name !== "" && !name.startsWith("type ") && !KNOWN[module]?.includes(name))
        .map((name) => `${file}: ${name} of ${module}`),
    );
  });
  assert.deepEqual(missing, []);
});
