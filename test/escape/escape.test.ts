import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { compile } from "../fixtures/compile.ts";
import { zygotesOf } from "../fixtures/processes.ts";
import { ATTEMPTS } from "./attempts.ts";
import type { Outcome } from "./runner.ts";

/** Every way out is tried by a real program, free and confined. Without the first the second would prove nothing. */
const RUNNER = fileURLToPath(new URL("runner.ts", import.meta.url));
const ROOT = process.getuid?.() === 0;
const NOBODY = 65_534;
/** With all of root's capabilities so many ways are open to the unconfined; in a container fewer. */
const LEAST = 80;

function run(user: number | null): Outcome[] {
  const folder = mkdtempSync(join(tmpdir(), "sallyport-escape-"));
  const tools = join(folder, "tools");
  const arena = join(folder, "arena");
  mkdirSync(tools);
  mkdirSync(arena);
  const tool = join(tools, "tool");
  const suid = join(tools, "suid");
  copyFileSync(compile("escape"), tool);
  copyFileSync(tool, suid);
  chmodSync(folder, 0o755);
  chmodSync(suid, ROOT ? 0o4755 : 0o755);
  const who = user === null ? {} : { uid: user, gid: user };
  if (user !== null) chownSync(arena, user, user);
  try {
    const env = { PATH: process.env.PATH, HOME: join(arena, "home"), LANG: "C" };
    const { stdout, stderr } = spawnSync(process.execPath, [RUNNER, arena, tool, suid], {
      ...who,
      env,
      cwd: arena,
      encoding: "utf8",
      timeout: 300_000,
    });
    assert.doesNotMatch(stderr, /Error/);
    return stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Outcome);
  } finally {
    for (const zygote of zygotesOf(join(arena, "state"))) process.kill(zygote, "SIGTERM");
    rmSync(folder, { recursive: true, force: true });
  }
}

function hasAllCapabilities(): boolean {
  const held = /CapEff:\s+([0-9a-f]+)/.exec(readFileSync("/proc/self/status", "latin1"))?.[1] ?? "0";
  return (BigInt(`0x${held}`) & 0x1fffffn) === 0x1fffffn;
}

/** The repository must be readable by whoever runs it. */
function readableBy(user: number): boolean {
  return (
    spawnSync(process.execPath, ["-e", `require("fs").readFileSync(${JSON.stringify(RUNNER)})`], {
      uid: user,
      gid: user,
      cwd: "/",
    }).status === 0
  );
}

function suite(who: string, user: number | null): void {
  describe(`ways out, as ${who}`, () => {
    const outcomes = run(user);
    for (const { name, impossible, escaped, changed, said } of outcomes) {
      const skip = impossible !== null && `even the unconfined cannot: ${impossible.slice(0, 100)}`;
      test(name, { skip }, () => {
        assert.equal(escaped, false, `it got out: ${said}`);
        assert.equal(changed, false, "it changed what is none of its business");
      });
    }
    test("enough ways were really open to the unconfined", () => {
      const open = outcomes.filter(({ impossible }) => impossible === null).length;
      const expected = user === null && ROOT && hasAllCapabilities() ? LEAST : 40;
      assert.ok(open >= expected, `only ${open} of ${ATTEMPTS.length}`);
    });
  });
}

suite(ROOT ? "root" : "an ordinary user", null);
if (ROOT && readableBy(NOBODY)) suite("an ordinary user", NOBODY);
