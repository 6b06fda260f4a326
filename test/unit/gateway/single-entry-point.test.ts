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

/** Files that start fixed programs, never a command of an agent. */
const FIXED_PROGRAMS = [
  "cli/agent/gateway-client.ts", // Sallyport itself, to serve an agent's program
  "cli/terminal/output-reader.ts", // the keeper, to watch the reader of stdout
  "doctor/apparmor.ts",
  "doctor/executor.ts",
  "doctor/state-folder.ts",
  "hosts/hooks/opencode.ts", // the text of a plugin that runs in opencode
  "setup/probe.ts", // the MCP server that a host is configured to start
  "setup/service/systemctl.ts",
];

test("only the executor starts commands, and few other files start processes", () => {
  const starters = filesWith(/from "node:(child_process|cluster|worker_threads)"|process\.binding/);
  assert.ok(starters.includes("executor/spawn-keeper.ts"));
  const others = starters.filter((name) => !name.startsWith("executor/"));
  assert.deepEqual(others, FIXED_PROGRAMS);
});

test("only submit launches commands", () => {
  assert.deepEqual(filesWith(/\.launch\(/), ["gateway/submit.ts"]);
  assert.deepEqual(filesWith(/executor\.prepare\(/), ["gateway/submit.ts", "session/registry.ts"]);
});

test("only the gateway calls submit", () => {
  const callers = filesWith(/^import \{[^}]*\bsubmit\b[^}]*\} from "[^"]*\/submit\.ts"/m);
  assert.ok(callers.includes("gateway/gateway.ts"));
  assert.deepEqual(
    callers.filter((name) => !name.startsWith("gateway/")),
    [],
  );
});
