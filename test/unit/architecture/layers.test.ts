import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import test from "node:test";
import { cyclesIn, folderOf, importsOf, ROOT, sourceFiles } from "./import-graph.ts";

const PAGE = readFileSync(join(ROOT, "docs/architecture.md"), "utf8");
/** The folders of src/ from top to bottom, from the table "Source layout" of docs/architecture.md. */
const LAYERS = [...section("Source layout").matchAll(/^\| `src\/([a-z]+)\/` \|/gm)].map(([, folder]) => folder ?? "");
/** Folders of independent files (types, schemas, pure functions), each of which is an entry file. */
const COLLECTIONS = new Set(["core", "text"]);
/** Exit codes and HTTP statuses by error type, which a test compares with docs/errors.md. */
const DOCUMENTED_TABLES = [
  "src/cli/catalog.ts",
  "src/cli/exit-code.ts",
  "src/cli/next-steps.ts",
  "src/http/errors.ts",
  "src/http/next-steps.ts",
  "src/sandbox/credential-paths.ts",
];
const MOST_ENTRIES = 22;

const files = sourceFiles("src");
const graph = new Map(files.map((file) => [file, importsOf(file)]));

test("docs/architecture.md lists every folder of src/ once", () => {
  const folders = [...new Set(files.flatMap((file) => folderOf(file) ?? []))];
  assert.deepEqual([...LAYERS].sort(), folders.sort());
});

test("no file imports from a folder above its own, not even a type", () => {
  const upward = files.flatMap((file) =>
    (graph.get(file) ?? []).filter((target) => isUpward(file, target)).map((target) => `${file} -> ${target}`),
  );
  assert.deepEqual(upward, []);
});

test("the check finds every form of import and detects an upward one", () => {
  assert.ok(isUpward("src/core/error.ts", "src/cli/main.ts"));
  assert.ok(!isUpward("src/cli/main.ts", "src/core/error.ts"));
  const text =
    'import type { A } from "../cli/a.ts";\nexport * from "./b.ts";\nconst c = await import("../c.ts");\nimport "./d.ts";';
  const found = ["src/cli/a.ts", "src/core/b.ts", "src/c.ts", "src/core/d.ts"];
  assert.deepEqual(importsOf("src/core/x.ts", text), found);
});

test("imports form no cycle, not even of types", () => {
  assert.deepEqual(cyclesIn(graph), []);
  const circle = new Map([
    ["a", ["b"]],
    ["b", ["c"]],
    ["c", ["b", "d"]],
    ["d", []],
  ]);
  assert.deepEqual(cyclesIn(circle), [["b", "c"]]);
});

test("files of src/ import only files of src/, and none imports src/index.ts", () => {
  const strays = [...graph].flatMap(([file, targets]) =>
    targets
      .filter((target) => !target.startsWith("src/") || target === "src/index.ts")
      .map((target) => `${file} -> ${target}`),
  );
  assert.deepEqual(strays, []);
});

test("tests import only entry files, which files of other folders of src/ import too", () => {
  const entries = new Set(["src/index.ts", "src/cli/main.ts", ...DOCUMENTED_TABLES]);
  for (const [file, targets] of graph) {
    for (const target of targets) if (!file.startsWith(`${dirname(target)}/`)) entries.add(target);
  }
  const inner = sourceFiles("test").flatMap((file) =>
    importsOf(file)
      .filter((target) => target.startsWith("src/") && !entries.has(target) && !COLLECTIONS.has(folderOf(target) ?? ""))
      .map((target) => `${file} -> ${target}`),
  );
  assert.deepEqual(inner, []);
});

test(`no folder of src/ or native/ has more than ${MOST_ENTRIES} entries`, () => {
  const folders = ["src", "native"].flatMap((root) =>
    readdirSync(join(ROOT, root), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !/^native\/(build|prebuilt)/.test(join(root, entry.name)))
      .map((entry) => join(entry.parentPath, entry.name)),
  );
  const crowded = folders
    .map((folder) => [folder, readdirSync(folder).length] as const)
    .filter(([, count]) => count > MOST_ENTRIES);
  assert.deepEqual(crowded, []);
});

test("the files in the tables of docs/architecture.md exist", () => {
  const missing = [...section("Where to find things").matchAll(/^\| `([a-z]+\/(?:[a-z]+\/)?)` \| (.*) \|$/gm)].flatMap(
    ([, folder = "", cell = ""]) =>
      [...cell.matchAll(/`([\w/.-]+\.(?:ts|c))`/g)]
        .map(([, file]) => folder + file)
        .filter((path) => !path.includes("NAME/") && !existsSync(join(ROOT, path))),
  );
  assert.deepEqual(missing, []);
});

test("the files that docs/architecture.md lists for the path of one command exist", () => {
  const paths = [...section("The path of one command").matchAll(/^\d+\. `([^`]+)`/gm)].map(([, path]) => path ?? "");
  assert.ok(paths.filter((path) => path.startsWith("src/")).length >= 10);
  assert.ok(paths.filter((path) => path.startsWith("native/")).length >= 8);
  assert.deepEqual(
    paths.filter((path) => !existsSync(join(ROOT, path))),
    [],
  );
});

/** The text below a heading of docs/architecture.md. */
function section(title: string): string {
  return PAGE.split(new RegExp(`^## ${title}$`, "m"))[1]?.split(/^## /m)[0] ?? "";
}

function isUpward(file: string, target: string): boolean {
  const [from, to] = [folderOf(file), folderOf(target)];
  if (from === null || to === null || from === to) return false;
  return LAYERS.indexOf(from) > LAYERS.indexOf(to);
}
