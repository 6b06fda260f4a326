import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { NATIVE } from "../../fixtures/keeper-build.ts";

const MAX = 1 << 20;
const LINE_MAX = 512;
const LINE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (error|warn|info|debug) \d+ [a-z_]+: [ -~]+$/;

const builds = mkdtempSync(join(tmpdir(), "sallyport-log-"));
after(() => rmSync(builds, { recursive: true }));

function build(name: string, flags: string[]): string {
  const harness = fileURLToPath(new URL("log-harness.c", import.meta.url));
  const program = join(builds, name);
  const sanitizers = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
  const base = ["-std=c11", "-D_GNU_SOURCE", "-O1", "-g", ...sanitizers, ...flags];
  execFileSync("cc", [...base, `-I${NATIVE}`, harness, join(NATIVE, "log.c"), "-o", program]);
  return program;
}

function rate(lines: number): string[] {
  return [`-DLOG_LINES_PER_WINDOW=${lines}u`, "-DLOG_WINDOW_US=1000000"];
}

const usual = build("usual", rate(200));
const unlimited = build("unlimited", rate(100_000_000));

function emptyFolder(): string {
  return mkdtempSync(join(builds, "state-"));
}

function run(program: string, folder: string, level: string, processes = 0, lines = 0): string {
  return execFileSync(program, [folder, level, String(processes), String(lines)], { encoding: "utf8" });
}

function read(folder: string, name = "keeper.log"): string[] {
  return readFileSync(join(folder, name), "utf8").trimEnd().split("\n");
}

for (const [level, count] of [
  ["error", 1],
  ["warn", 2],
  ["info", 3],
  ["debug", 4],
  ["nonsense", 2],
] as const) {
  test(`writes lines of the level ${level} and above`, () => {
    const folder = emptyFolder();
    run(usual, folder, level);
    const lines = read(folder);
    assert.equal(lines.length, count);
    for (const line of lines) assert.match(line, LINE);
    const time = Date.parse(lines[0]?.split(" ")[0] ?? "");
    assert.ok(Math.abs(Date.now() - time) < 60_000, `${lines[0]} is not the time`);
  });
}

test("writes one line per message, and none from a child that has not become its command", () => {
  const folder = emptyFolder();
  run(usual, folder, "warn");
  assert.match(read(folder)[1] ?? "", /a warning\?with a second line$/);
  assert.equal(read(folder).filter((line) => line.includes("does not log")).length, 0);
});

test("a condition of the machine is reported once for all keepers", () => {
  assert.equal(run(usual, emptyFolder(), "error"), "1 0\n");
});

test("concurrent processes keep two files of bounded size with complete lines", () => {
  const folder = emptyFolder();
  const processes = 16;
  run(unlimited, folder, "warn", processes, 4000);
  for (const name of ["keeper.log", "keeper.log.1"]) {
    const { size, mode } = statSync(join(folder, name));
    assert.ok(size <= MAX + processes * LINE_MAX, `${name} has ${size} bytes`);
    assert.equal(mode & 0o777, 0o600);
    for (const line of read(folder, name)) assert.match(line, LINE);
  }
  assert.ok(statSync(join(folder, "keeper.log.1")).size > MAX / 2, "the log was rotated before it was full, or twice");
});

test("limits the rate of messages and logs the number of omitted lines", () => {
  const folder = emptyFolder();
  const processes = 4;
  const count = 5000;
  run(usual, folder, "warn", processes, count);
  const lines = read(folder);
  assert.ok(lines.length <= 1000, `${lines.length} lines`);
  assert.match(lines.at(-1) ?? "", /the last line$/);
  const missing = lines.flatMap((line) => / dropped (\d+) lines$/.exec(line)?.[1] ?? []);
  const sum = missing.reduce((total, number) => total + Number(number), 0);
  assert.equal(sum + lines.length - missing.length, 2 + processes * count + 1);
});

test("appends to an existing log and restricts its mode, and ignores other kinds of files", () => {
  const folder = emptyFolder();
  writeFileSync(join(folder, "keeper.log"), "before\n");
  chmodSync(join(folder, "keeper.log"), 0o644);
  run(usual, folder, "error");
  assert.equal(read(folder)[0], "before");
  assert.equal(statSync(join(folder, "keeper.log")).mode & 0o777, 0o600);
  renameSync(join(folder, "keeper.log"), join(folder, "elsewhere"));
  symlinkSync("elsewhere", join(folder, "keeper.log"));
  run(usual, folder, "error");
  assert.equal(read(folder, "elsewhere").length, 2);
  rmSync(join(folder, "keeper.log"));
  execFileSync("mkfifo", [join(folder, "keeper.log")]);
  run(usual, folder, "error");
});
