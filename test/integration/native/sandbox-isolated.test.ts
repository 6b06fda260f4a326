import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import type { ExitRecord } from "../../../src/executor/execution.ts";
import { sandboxCapabilities } from "../../../src/executor/native/probe.ts";
import { allProcesses, descendantsOf, exists } from "../../fixtures/processes.ts";
import { Cell, IDENTITIES } from "../../fixtures/sandbox-fixture.ts";
import { until } from "../../fixtures/until.ts";

const tier = sandboxCapabilities();
const skip = tier.isolation ? false : "needs user, mount and PID namespaces";
/** Returns the PIDs of the first process of the PID namespace below a keeper and of all others in it. */
const family = (keeper: number) => descendantsOf(keeper).map(({ pid }) => pid);

for (const uid of IDENTITIES) {
  const cell = await Cell.open(uid);
  const isolated = cell.sandbox({ isolated: true });
  after(() => cell.close());
  const ending = async (text: string): Promise<Pick<ExitRecord, "reason" | "code" | "signal">> => {
    const { reason, code, signal } = (await cell.sh(text, isolated)).record;
    return { reason, code, signal };
  };

  /** Starts a command, and lets it time out once it has set its traps. */
  const overdue = async (text: string, graceMs: number) => {
    const execution = await cell.start(["bash", "-c", text], isolated, { graceMs });
    const release = execution.hold();
    await until("the command is running", () => cell.output(execution.id, "stdout") === "up\n");
    assert.ok(await execution.setDeadline(1));
    const outcome = await cell.finish(execution);
    release();
    return outcome;
  };

  test(`an isolated command of user ${uid} sees only its own processes, devices and temporary files`, {
    skip,
  }, async () => {
    writeFileSync(join(cell.folder, "on-the-host"), "");
    const { record, stdout } = await cell.sh(
      `ls -d /proc/[0-9]* | wc -l; ls /dev | tr '\\n' ' '; ls /dev/shm | wc -l; ls $CELL; ls /tmp; echo $$ > /tmp/mine; cat /tmp/mine; id -u`,
      { ...isolated, binds: [...isolated.binds, { at: "/tmp", source: cell.own(join(cell.folder, "private")) }] },
    );
    const lines = stdout.split("\n");
    assert.equal(record.gaps, undefined);
    assert.ok(Number(lines[0]) <= 4, `${lines[0]} processes`);
    assert.match(lines[1] ?? "", /^fd full null ptmx pts random shm stderr stdin stdout tty urandom zero /);
    assert.ok(!stdout.includes("on-the-host") && !stdout.includes("state"));
    assert.deepEqual(lines.slice(-3), ["2", String(uid), ""], "the command is not the second process");
    assert.ok(existsSync(join(cell.folder, "private", "mine")), "the command's /tmp is not private");
  });

  test(`an isolated command of user ${uid} has its own namespaces`, { skip }, async () => {
    const kinds = ["user", "mnt", "pid", "ipc", "uts"];
    const names = `for n in ${kinds.join(" ")}; do readlink /proc/self/ns/$n; done`;
    const host = (await cell.sh(names, null)).stdout.split("\n");
    const own = (await cell.sh(names, isolated)).stdout.split("\n");
    for (const [index, kind] of kinds.entries()) assert.notEqual(own[index], host[index], kind);
  });

  test(`isolated commands of user ${uid} end like others`, { skip }, async () => {
    for (const code of [0, 1, 77, 255])
      assert.deepEqual(await ending(`exit ${code}`), { reason: "exited", code, signal: 0 });
    for (const [name, signal] of Object.entries({ HUP: 1, INT: 2, ABRT: 6, KILL: 9, SEGV: 11, TERM: 15, USR1: 10 })) {
      assert.deepEqual(await ending(`kill -${name} $$`), { reason: "exited", code: null, signal }, name);
    }
    assert.deepEqual(await ending("trap 'exit 5' TERM; kill -TERM $$; sleep 5"), {
      reason: "exited",
      code: 5,
      signal: 0,
    });
    assert.deepEqual(await ending("kill -9 1; kill -TERM 1; kill -USR2 1; exit 3"), {
      reason: "exited",
      code: 3,
      signal: 0,
    });
    const missing = await cell.run(["/no/such/program"], isolated);
    assert.deepEqual([missing.record.reason, missing.record.step, missing.record.errno], ["failed", "execve", 2]);
  });

  test(`an isolated command of user ${uid} times out and is killed like others`, { skip }, async () => {
    const late = await overdue("trap '' TERM; echo up; sleep 300 & sleep 300", 100);
    assert.deepEqual([late.record.reason, late.record.signal], ["timeout", 9]);
    const polite = await overdue("trap 'echo bye; exit 0' TERM; sleep 300 & echo up; wait", 20_000);
    assert.deepEqual([polite.record.reason, polite.record.code, polite.stdout], ["timeout", 0, "up\nbye\n"]);
    const execution = await cell.start(["bash", "-c", "setsid sleep 300 & echo up; sleep 300"], isolated);
    const release = execution.hold();
    await until("the command is running", () => cell.output(execution.id, "stdout") === "up\n");
    await until(
      "the first process, the command and its child are running",
      () => family(execution.keeperPid).length === 3,
    );
    const members = family(execution.keeperPid);
    assert.ok(await execution.kill({ signal: 15, scope: "tree", ends: true, graceMs: 20_000 }));
    const { record } = await cell.finish(execution);
    release();
    assert.deepEqual([record.reason, record.signal, record.leftover], ["killed", 15, 0]);
    await until("no process of the namespace exists", () => members.every((pid) => !exists(pid)));
  });

  test(`leftovers of an isolated command of user ${uid} are counted and ended`, { skip }, async () => {
    const all = join(cell.workspace, "all-there");
    await cell.run(["mkfifo", all], cell.sandbox());
    const leaves = "(setsid sleep 300 &) ; setsid sh -c 'sleep 300 & sleep 300' &";
    const execution = await cell.start(["bash", "-c", `${leaves} read line < all-there; exit 3`], isolated);
    const release = execution.hold();
    await until("the first process, the command and its four descendants are running", () => {
      const running = descendantsOf(execution.keeperPid).filter(({ state }) => state !== "Z");
      return running.length === 6 && running.filter(({ title }) => title === "sleep").length === 3;
    });
    writeFileSync(all, "now\n");
    const { record } = await cell.finish(execution);
    release();
    assert.deepEqual([record.reason, record.code, record.leftover, record.final], ["exited", 3, 4, true]);
    // A leftover has 200 ms to exit on its own, which is not always enough on a busy machine.
    await until("a leftover exits within 200 ms", async () => {
      const quick = await cell.sh("(sleep 0.05 &) ; exit 4", isolated);
      assert.equal(quick.record.code, 4);
      return quick.record.leftover === 0;
    });
    const orphan = await cell.sh(
      "(sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done' &) ; sleep 0.5; exit 0",
      isolated,
    );
    assert.ok(orphan.record.userUs > 1000, "the usage does not include an orphan that ended before the command");
  });

  test(`leftovers of an isolated background command of user ${uid} continue until they end`, { skip }, async () => {
    const gate = join(cell.workspace, "gate");
    await cell.run(["mkfifo", gate], cell.sandbox());
    const lasting = await cell.start(["bash", "-c", "read line < gate & exit 6"], isolated, { background: true });
    const hold = lasting.hold();
    const first = await lasting.exited;
    assert.ok(typeof first !== "string");
    assert.deepEqual([first.code, first.final], [6, false]);
    writeFileSync(gate, "go\n");
    const last = await lasting.ended;
    assert.ok(typeof last !== "string");
    assert.deepEqual([last.code, last.final], [6, true]);
    hold();
  });

  test(`killing a keeper ends the isolated processes of user ${uid}`, { skip }, async () => {
    const script = "(setsid sleep 300 &) ; setsid sh -c 'sleep 300 & sleep 300' & echo up; sleep 300";
    const execution = await cell.start(["bash", "-c", script], isolated);
    const release = execution.hold();
    await until("the command is running", () => cell.output(execution.id, "stdout") === "up\n");
    await until("all processes of the namespace are running", () => family(execution.keeperPid).length === 6);
    const members = family(execution.keeperPid);
    process.kill(execution.keeperPid, "SIGKILL");
    assert.equal(await execution.ended, "lost");
    release();
    await until("no process of the namespace exists, not even as a zombie", () => members.every((pid) => !exists(pid)));
  });

  test(`continuous forks by user ${uid} end with its namespace`, { skip }, async () => {
    const script = "storm() { while :; do (setsid sleep 300 &) ; done; }; storm & storm & sleep 300";
    const { record } = await cell.sh(script, isolated, { timeoutMs: 300, graceMs: 0 });
    assert.deepEqual([record.reason, record.final], ["timeout", true]);
    const marked = allProcesses().filter(({ pid }) => environ(pid).includes(`CELL=${cell.folder}\0`));
    assert.deepEqual(marked, []);
  });

  test(`files have the right owners for isolated commands of user ${uid}`, { skip }, async () => {
    const { stdout } = await cell.sh("touch made; stat -c %u made /etc/passwd", isolated);
    const [own, root] = stdout.split("\n");
    assert.equal(own, String(uid));
    if (uid === 0) assert.equal(root, "0");
  });
}

function environ(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1");
  } catch {
    return "";
  }
}
