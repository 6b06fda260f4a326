import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { buildKeeper } from "../../fixtures/keeper-build.ts";

const reports = mkdtempSync(join(tmpdir(), "sallyport-reports-"));
chmodSync(reports, 0o777); // keepers of other users write reports there as well
// A zygote starts with an empty environment, so the options are built in.
const options = `log_path=${reports}/report:abort_on_error=0:exitcode=66`;
const build = buildKeeper(
  "sanitized",
  ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-fno-omit-frame-pointer", "-DKEEPER_NO_PREFORK"],
  `const char *__asan_default_options(void) { return "${options}:detect_leaks=1:detect_stack_use_after_return=1"; }
   const char *__ubsan_default_options(void) { return "${options}:print_stacktrace=1"; }`,
);
after(() => {
  build.remove();
  rmSync(reports, { recursive: true });
});

/**
 * The part of the suite that covers nearly every file of the keeper. Isolated commands and preforked children are
 * excluded, because they start on their own stack, which the sanitizers report as an error.
 */
const SUITE = [
  ...["endings", "pipelined", "lingering", "stdin", "output", "terminal", "killed-keepers"].map(
    (name) => `executor/${name}`,
  ),
  ...["sandbox-files", "sandbox-network", "socket-broker"].map((name) => `native/${name}`),
];

for (const name of SUITE) {
  test(`the tests of ${name} pass with a sanitized keeper`, () => {
    const file = fileURLToPath(new URL(`../../integration/${name}.test.ts`, import.meta.url));
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const { status, stdout } = spawnSync(process.execPath, ["--test", file], {
      encoding: "utf8",
      env: { ...env, SALLYPORT_KEEPER: build.keeper },
    });
    const found = readdirSync(reports).map((report) => readFileSync(join(reports, report), "utf8"));
    assert.deepEqual(found, [], "the sanitizers report nothing");
    assert.equal(status, 0, stdout);
  });
}
