import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { SessionInfo } from "../../../src/core/session.ts";
import { Sandbox } from "../../fixtures/sallyport.ts";
import { until } from "../../fixtures/until.ts";

interface Measured {
  cpuPercent: number;
  memoryBytes: number;
  processCount: number;
  processes: { command: string }[];
}

const box = new Sandbox();
after(async () => {
  await box.run(["kill", "-s", "KILL", ...(await running())]);
  box.remove();
});

async function start(name: string, script: string): Promise<string> {
  return (await box.run(["run", "-d", "--name", name, "-c", script])).stdout.trim();
}

async function running(): Promise<string[]> {
  return (await box.run(["ps", "-q"])).stdout.trim().split("\n").filter(Boolean);
}

test("ps lists running sessions, and with -a finished ones", async () => {
  assert.deepEqual(await box.run(["ps"]).then(({ stdout, code }) => ({ stdout, code })), { stdout: "", code: 0 });
  const long = await start("long", "sleep 300 # a\tb");
  const short = await start("short", "exit 5");
  await box.run(["wait", "short"]);
  assert.deepEqual(await running(), [long]);
  const [id, name, status, exit, startedAt, ms, command, host] = (await box.run(["ps"])).stdout.trimEnd().split("\t");
  assert.deepEqual([id, name, status, exit, command, host], [long, "long", "running", "-", "sleep 300 # a\\tb", "-"]);
  assert.ok(Date.parse(startedAt ?? "") > 0 && Number(ms) >= 0);
  const all = JSON.parse((await box.run(["ps", "-a", "--json"])).stdout) as SessionInfo[];
  assert.deepEqual(
    all.map((info) => [info.id, info.exitCode]),
    [
      [short, 5],
      [long, null],
    ],
  );
  assert.equal((await box.run(["ps", "-aq", "--limit", "1"])).stdout, `${short}\n`);
});

test("finds a session by its ID, the beginning of its ID, or its name", async () => {
  const id = await start("handle", "exit 9");
  for (const reference of [id, id.slice(0, 23), "handle"]) assert.equal((await box.run(["wait", reference])).code, 9);
});

test("reports an unknown or ambiguous session and continues with the others", async () => {
  const { stdout, stderr, code } = await box.run(["wait", "--json", "nobody", "short"]);
  assert.equal(code, 125);
  assert.equal((JSON.parse(stdout) as SessionInfo).name, "short");
  assert.equal((JSON.parse(stderr) as { error: { type: string } }).error.type, "SessionNotFound");
  const ambiguous = await box.run(["inspect", "0"]);
  assert.equal(ambiguous.code, 125);
  assert.match(ambiguous.stderr, /^sallyport: "0" is a prefix of more than one session ID\.\n {2}/);
});

test("reports a missing session argument", async () => {
  for (const name of ["wait", "kill", "inspect", "rm", "logs"]) {
    const { stderr, code } = await box.run([name]);
    assert.equal(code, 125);
    assert.match(stderr, /^sallyport: no session given; /, name);
  }
});

test("inspect prints pairs in a pipe, and an object or an array with --json", async () => {
  const pairs = new Map(
    (await box.run(["inspect", "short"])).stdout
      .trimEnd()
      .split("\n")
      .map((line) => line.split("\t") as [string, string]),
  );
  assert.equal(pairs.get("status"), "completed");
  assert.equal(pairs.get("exit"), "5");
  assert.equal(pairs.get("command"), "exit 5");
  assert.equal((JSON.parse((await box.run(["inspect", "--json", "short"])).stdout) as SessionInfo).name, "short");
  const both = JSON.parse((await box.run(["inspect", "--json", "short", "long"])).stdout) as SessionInfo[];
  assert.deepEqual(
    both.map(({ name }) => name),
    ["short", "long"],
  );
});

test("kill ends the process tree, with SIGKILL after --force-after", async () => {
  await start("stubborn", "trap '' TERM; echo ready; while :; do sleep 1; done");
  await box.until(["logs", "stubborn"], "ready\n");
  const { code, stdout } = await box.run(["kill", "--force-after", "200ms", "--json", "stubborn"]);
  assert.equal(code, 0);
  const { status, signal } = JSON.parse(stdout) as SessionInfo;
  assert.deepEqual({ status, signal }, { status: "killed", signal: "SIGKILL" });
  assert.equal((await box.run(["wait", "stubborn"])).code, 137);
  const again = await box.run(["kill", "stubborn"]);
  assert.equal(again.code, 125);
  assert.match(again.stderr, /already ended/);
});

test("kill -s sends only that signal", async () => {
  await start("listener", "trap 'echo got it' USR1; echo ready; while :; do sleep 0.1; done");
  await box.until(["logs", "listener"], "ready\n");
  assert.equal((await box.run(["kill", "-s", "usr1", "listener"])).code, 0);
  await box.until(["logs", "listener"], "got it\n");
  assert.ok((await box.run(["ps"])).stdout.includes("listener"));
  const typo = await box.run(["kill", "-s", "TREM", "listener"]);
  assert.match(
    typo.stderr,
    /`--signal` must be a signal such as TERM, SIGINT or 9 \(did you mean `SIGTERM`\?\); received `TREM`/,
  );
});

test("stats measures the process tree", async () => {
  await start("worker", "sleep 300 & sleep 300 & while :; do :; done");
  await until("all processes are measured", async () => {
    const [row] = JSON.parse((await box.run(["stats", "--json", "worker"])).stdout) as Measured[];
    const sleepers = row?.processes.filter(({ command }) => command === "sleep 300").length;
    return sleepers === 2 && row?.processCount === 3 && row.cpuPercent > 0 && row.memoryBytes > 500_000;
  });
  const fields = (await box.run(["stats"])).stdout
    .split("\n")
    .find((line) => line.includes("\tworker\t"))
    ?.split("\t");
  assert.equal(fields?.length, 10);
  await box.run(["kill", "-s", "KILL", "worker"]);
  await box.run(["wait", "worker"]);
});

test("inspect and stats show limits given on the command line", async () => {
  await box.run([
    "run",
    "-d",
    "--name",
    "small",
    "--memory",
    "64M",
    "--cpu",
    "0.5",
    "--processes",
    "20",
    "sleep",
    "300",
  ]);
  const limits = { memoryBytes: 64 << 20, cpu: 0.5, processes: 20, diskBytes: null, fileSize: null, openFiles: null };
  const [row] = JSON.parse((await box.run(["stats", "--json", "small"])).stdout) as { limits: unknown }[];
  assert.deepEqual(row?.limits, limits);
  const inspected = (await box.run(["inspect", "small"])).stdout;
  assert.match(inspected, /^limits\t64M memory, 0\.5 CPUs, 20 processes and threads$/m);
  const { stdout } = await box.terminal(["stats", "--once", "small"], { columns: 120 });
  assert.match(stdout, /[\d.]+% of 50% .* [\d.]+[KM] of 64M /);
  await box.run(["kill", "-s", "KILL", "small"]);
  await box.run(["wait", "small"]);
});

test("reports an exceeded limit on stderr, and the signal in the exit code", async () => {
  const { stderr, code } = await box.run([
    "run",
    "--processes",
    "5",
    "-c",
    "for i in {1..20}; do sleep 60 & done; wait",
  ]);
  assert.equal(code, 137);
  assert.match(stderr, /^sallyport: The command exceeded its process limit of 5 processes and threads \(peak: \d+/m);
});

test("rm removes finished sessions, and running ones only with -f", async () => {
  const refused = await box.run(["rm", "long"]);
  assert.equal(refused.code, 125);
  assert.match(refused.stderr, /still running/);
  assert.equal((await box.run(["rm", "-f", "long", "short"])).code, 0);
  assert.equal((await box.run(["logs", "long"])).code, 125);
});

test("clean never removes running sessions", async () => {
  const id = await start("keeps-going", "sleep 300");
  const { stdout, code } = await box.run(["clean", "--older-than", "0", "--json"]);
  const { removed } = JSON.parse(stdout) as { removed: string[] };
  assert.equal(code, 0);
  assert.ok(removed.length > 0 && !removed.includes(id));
  const left = (await box.run(["ps", "-aq"])).stdout.trim().split("\n");
  assert.deepEqual(left.sort(), (await running()).sort());
  assert.match((await box.run(["clean", "--keep", "5"])).stderr, /^Removed 0 sessions and freed 0B\.\n$/);
});

test("a session belongs to the agent that started it", async () => {
  await box.run(["--agent", "alice", "run", "-d", "--name", "hers", "--", "true"]);
  assert.match((await box.run(["ps", "-a", "--agent", "alice"])).stdout, /^\S+\thers\t[^\n]*\n$/);
  assert.equal((await box.run(["ps", "-a", "--agent", "bob"])).stdout, "");
});
