import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, beforeEach, test } from "node:test";
import type { SandboxCapabilities } from "../../../src/core/launch.ts";
import {
  cachedSandboxCapabilities,
  readProbeCache,
  sandboxCapabilities,
  writeProbeCache,
} from "../../../src/executor/native/probe.ts";
import { keeperBinary } from "../../../src/executor/native/zygote.ts";
import { CAPABILITIES } from "../../fixtures/capabilities.ts";

const state = mkdtempSync(join(tmpdir(), "sallyport-kept-"));
const keeper = join(state, "keeper");
const file = join(state, "probed.json");
after(() => rmSync(state, { recursive: true, force: true }));

const TIER: SandboxCapabilities = { ...CAPABILITIES, mounts: "user" };

const HOUR_MS = 3600 * 1000;

beforeEach(() => {
  writeFileSync(keeper, "a program");
  writeProbeCache(state, keeper, TIER);
});

function change(how: (kept: { atMs: number; circumstances: string }) => object): void {
  const kept = JSON.parse(readFileSync(file, "utf8"));
  writeFileSync(file, JSON.stringify({ ...kept, ...how(kept) }));
}

test("stores the probe result in one file that only its owner can read", () => {
  assert.deepEqual(readProbeCache(state, keeper), TIER);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(state).sort(), ["keeper", "probed.json"]);
});

test("ignores the cached result of another keeper", () => {
  writeFileSync(keeper, "another program");
  assert.equal(readProbeCache(state, keeper), null);
  assert.equal(readProbeCache(state, join(state, "no keeper")), null);
});

test("ignores a cached result that is older than an hour or from the future", () => {
  change(({ atMs }) => ({ atMs: atMs - HOUR_MS + 60_000 }));
  assert.deepEqual(readProbeCache(state, keeper), TIER);
  change(({ atMs }) => ({ atMs: atMs - 60_000 }));
  assert.equal(readProbeCache(state, keeper), null);
  change(() => ({ atMs: Date.now() + HOUR_MS }));
  assert.equal(readProbeCache(state, keeper), null);
});

test("ignores a cached result from a different environment", () => {
  const { circumstances } = JSON.parse(readFileSync(file, "utf8")) as { circumstances: string };
  const parts = circumstances.split("\n");
  const named = ["Uid:", "Gid:", "CapEff:", "NoNewPrivs:", "Seccomp:", "user:[", "mnt:[", "pid:[", "net:["];
  if (process.platform === "linux") {
    for (const name of named)
      assert.ok(
        parts.some((part) => part.startsWith(name)),
        name,
      );
  }
  for (const [index, part] of parts.entries()) {
    const others = parts.with(index, `${part}1`);
    change(() => ({ circumstances: others.join("\n") }));
    assert.equal(readProbeCache(state, keeper), null, part);
  }
  change(() => ({ circumstances }));
  assert.deepEqual(readProbeCache(state, keeper), TIER);
});

test("probes again when the cache is invalid", () => {
  for (const text of ["", "null", "{", "[]", '{"atMs":"now"}']) {
    writeFileSync(file, text);
    assert.equal(readProbeCache(state, keeper), null);
  }
});

test("ignores a cache that cannot be written", () => {
  rmSync(file);
  mkdirSync(file);
  try {
    writeProbeCache(state, keeper, TIER);
    assert.equal(readProbeCache(state, keeper), null);
    assert.deepEqual(readdirSync(state).sort(), ["keeper", "probed.json"]);
  } finally {
    rmSync(file, { recursive: true });
  }
});

test("a gateway probes when the cache is invalid, and stores the result", () => {
  const own = keeperBinary();
  writeProbeCache(state, own, { ...TIER, landlock: -1 });
  const asked = cachedSandboxCapabilities(state);
  assert.notEqual(asked.landlock, -1);
  assert.deepEqual(asked, sandboxCapabilities());
  if (process.platform === "linux") assert.deepEqual(readProbeCache(state, own), asked);
});
