import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

/** The tests of the native executor that are repeated here with the portable one. */
const SUITE = [
  "deadline",
  "disk-cap",
  "endings",
  "lingering",
  "nothing-else-to-do",
  "output",
  "stdin",
  "surroundings",
  "terminal",
  "trees",
  "usage",
];

function run(name: string): Promise<{ failed: boolean; output: string }> {
  const { NODE_TEST_CONTEXT, ...env } = process.env; // the suite is a separate run
  const file = fileURLToPath(new URL(`../../integration/executor/${name}.test.ts`, import.meta.url));
  const options = { env: { ...env, SALLYPORT_EXECUTOR: "portable" }, maxBuffer: 64 << 20 };
  return new Promise((resolve) => {
    execFile(process.execPath, ["--test-reporter=spec", file], options, (error, stdout, stderr) => {
      resolve({ failed: error !== null, output: stdout + stderr });
    });
  });
}

for (const name of SUITE) {
  test(`${name}: the portable executor passes the same tests`, async () => {
    const { failed, output } = await run(name);
    assert.equal(failed, false, output.slice(-8000));
    assert.match(output, /pass [1-9]/, "no test passed");
  });
}
