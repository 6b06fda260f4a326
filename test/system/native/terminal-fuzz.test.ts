import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { FUZZ_SECONDS, FUZZ_SEED } from "../../fixtures/fuzz.ts";
import { NATIVE } from "../../fixtures/keeper-build.ts";

/** The keeper's terminal parser, which reads the output of sandboxed commands in a process without a sandbox. */
const PARSER = ["terminal_responder.c", "cursor.c"];
const INPUTS = 30_000;
const HARNESS = fileURLToPath(new URL("fuzz-terminal.c", import.meta.url));
const CORPUS = fileURLToPath(new URL("corpus/terminal.txt", import.meta.url));

function build(program: string): void {
  const sources = readdirSync(NATIVE, { recursive: true, encoding: "utf8" })
    .filter((path) => PARSER.includes(basename(path)))
    .map((path) => join(NATIVE, path));
  assert.equal(sources.length, PARSER.length, "PARSER lists a file that does not exist, or exists twice");
  const include = [NATIVE, ...new Set(sources.map(dirname))].map((folder) => `-I${folder}`);
  const sanitizers = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
  execFileSync("cc", [
    ...["-std=c11", "-D_GNU_SOURCE", "-O1", "-g"],
    ...sanitizers,
    ...include,
    HARNESS,
    ...sources,
    "-o",
    program,
  ]);
}

test("the terminal parser stays within its bounds on hostile output, however the output is split into reads", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "sallyport-fuzz-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const program = join(folder, "fuzz-terminal");
  build(program);
  const args = [FUZZ_SEED, FUZZ_SECONDS === null ? INPUTS : 0, FUZZ_SECONDS ?? 0].map(String);
  const { status, stdout, stderr } = spawnSync(program, [...args, CORPUS], { encoding: "latin1" });
  assert.equal(status, 0, `seed ${FUZZ_SEED}: ${stderr}`);
  const [inputs = 0, answered = 0] = stdout.split(" ").map(Number);
  t.diagnostic(`seed ${FUZZ_SEED}: ${inputs} inputs, ${answered} with answers`);
  assert.ok(answered > inputs / 4 && answered < inputs, "inputs with and without answers must occur");
});
