import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const SRC = fileURLToPath(new URL("../../../src", import.meta.url));

const FILES = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));

function filesWith(pattern: RegExp): string[] {
  return FILES.filter((name) => pattern.test(readFileSync(join(SRC, name), "utf8"))).sort();
}

test("nothing but the executor can start a process, and doctor its own two probes", () => {
  assert.deepEqual(filesWith(/from "node:(child_process|cluster|worker_threads)"|process\.binding/), [
    "doctor/executor.ts",
    "doctor/state-folder.ts",
    "executor/native/probe.ts",
    "executor/native/zygote.ts",
    "executor/portable/launch.ts",
    "executor/portable/stdio.ts",
    "executor/portable/terminal.ts",
    "executor/process-table.ts",
    "executor/select-executor.ts",
    "executor/spawn-keeper.ts",
  ]);
});

test("nothing but submit launches, and who else asks for room gives it back", () => {
  assert.deepEqual(filesWith(/\.launch\(/), ["gateway/submit.ts"]);
  assert.deepEqual(filesWith(/executor\.prepare\(/), ["gateway/submit.ts", "session/registry.ts"]);
});

test("nothing but the gateway submits", () => {
  const callers = filesWith(/^import \{[^}]*\bsubmit\b[^}]*\} from "[^"]*\/submit\.ts"/m);
  assert.ok(callers.includes("gateway/gateway.ts"));
  assert.deepEqual(
    callers.filter((name) => !name.startsWith("gateway/")),
    [],
  );
});
