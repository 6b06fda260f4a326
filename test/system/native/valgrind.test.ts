import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { RunResult } from "../../../src/core/result.ts";
import type { SessionInfo } from "../../../src/core/session.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";
import { buildKeeper } from "../../fixtures/keeper-build.ts";
import { OtherGateway } from "../../fixtures/other-gateway.ts";
import { allProcesses, descendantsOf, isRunning, send } from "../../fixtures/processes.ts";
import { until } from "../../fixtures/until.ts";

const VALGRIND = ["/usr/bin/valgrind", "/usr/local/bin/valgrind"].find((path) => existsSync(path));
const skip = VALGRIND ? false : "valgrind is not installed (Debian, Ubuntu: apt-get install valgrind)";

test("a keeper has no memory errors or leaks under valgrind", { skip }, async (t) => {
  // Valgrind does not support children that share memory without being threads.
  const build = buildKeeper("valgrind", ["-DKEEPER_NO_PREFORK"]);
  const reports = mkdtempSync(join(tmpdir(), "sallyport-valgrind-"));
  const wrapper = join(build.folder, "wrapper");
  const line = `exec ${VALGRIND} --leak-check=full --track-fds=no --log-file=${reports}/%p ${build.keeper} "$@"`;
  writeFileSync(wrapper, `#!/bin/sh\n${line}\n`, { mode: 0o755 });
  writeFileSync(`${wrapper}.id`, "valgrind");
  const fixture = new GatewayFixture();
  t.after(() => fixture.close());
  // Valgrind hides the keeper's title, so each session is followed by the gateway that started it.
  const gateway = await OtherGateway.open(fixture, { env: { SALLYPORT_KEEPER: wrapper } });
  const run = (request: object) => gateway.ask<RunResult>({ call: "run", request });

  assert.equal((await run({ command: "echo out; echo err >&2; exit 7" })).exitCode, 7);
  assert.equal((await run({ command: "cat", stdin: { text: "given" }, capture: "merged" })).output, "given");
  const large = await run({ command: "head -c 3000000 /dev/zero", diskCap: 65_536, logFile: fixture.path("log") });
  assert.equal(large.exitCode, 0);
  assert.equal((await run({ command: "sleep 60", timeoutMs: 300, graceMs: 100 })).status, "timed_out");
  assert.equal((await run({ command: "sleep 60 & echo done" })).leftover, 1);
  const { id } = await gateway.ask<SessionInfo>({ call: "start", request: { command: "setsid sleep 60 & sleep 60" } });
  assert.equal((await gateway.ask<SessionInfo>({ call: "kill", id, options: { graceMs: 200 } })).status, "killed");
  await gateway.close();

  const zygote = allProcesses().find(({ pid }) => isZygote(pid, fixture.state));
  assert.ok(zygote, "no zygote under valgrind");
  const family = [zygote.pid, ...descendantsOf(zygote.pid).map(({ pid }) => pid)];
  send(zygote.pid, "SIGTERM");
  await until("the zygote and its keepers have exited", () => family.every((pid) => !isRunning(pid)), 60_000);
  const logs = readdirSync(reports).map((name) => readFileSync(join(reports, name), "utf8"));
  assert.ok(logs.length > 2);
  for (const log of logs) {
    // An idle keeper is killed by a signal when its zygote exits, before valgrind can write a summary.
    if (!log.includes("ERROR SUMMARY")) assert.doesNotMatch(log, /Invalid|uninitialized/, log);
    else assert.match(log, /ERROR SUMMARY: 0 errors/, log);
    assert.doesNotMatch(log, /definitely lost: [1-9]/, log);
  }
  build.remove();
  rmSync(reports, { recursive: true });
});

function isZygote(pid: number, state: string): boolean {
  try {
    const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
    const parent = readFileSync(`/proc/${pid}/stat`, "utf8");
    return words.includes("serve") && words.includes(state) && !parent.includes("(sh)") && !hasSameParent(pid, state);
  } catch {
    return false;
  }
}

/** Keepers under valgrind have the command line of their zygote, which is the one whose parent has another. */
function hasSameParent(pid: number, state: string): boolean {
  const parent = allProcesses().find((seen) => seen.pid === pid)?.ppid;
  return readFileSync(`/proc/${parent}/cmdline`, "utf8").split("\0").includes(state);
}
