import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { sandboxCapabilities } from "../../../src/executor/native/probe.ts";
import { children, Waiting } from "../../fixtures/prefork-fixture.ts";
import { isRunning, send } from "../../fixtures/processes.ts";
import { Cell, IDENTITIES } from "../../fixtures/sandbox-fixture.ts";
import { until } from "../../fixtures/until.ts";

// A keeper that has run two similar commands forks a sandboxed child for the third in advance.

const tier = sandboxCapabilities();
const skip = tier.landlock < 3 || tier.mounts === "none" ? "needs Landlock 3 and mount namespaces" : false;
const alone = tier.isolation ? false : "needs user, mount and PID namespaces";

/** Shell text that prints everything that a command can observe about its environment. */
const SURROUNDINGS = `grep -E '^(Uid|Gid|Groups|Cap|NoNewPrivs|Seccomp|SigBlk|SigIgn|SigCgt)' /proc/self/status; pwd; umask
  ulimit -a; ls /proc/self/fd | wc -l; echo $#: "$0" "$@"; env | sort; stat -L -c %F /dev/fd/0; readlink /proc/self/ns/net
  ps -o pgid=,sid= $$ | tr -s ' ' '\\n' | grep -cx $$; cat /proc/self/cgroup; echo oops >&2`;

/** Kills a process, unless it has already exited with the first process of its PID namespace. */
function endIfThere(pid: number): void {
  if (isRunning(pid)) send(pid, "SIGKILL");
}

async function looksTheSame(waiting: Waiting): Promise<void> {
  const plain = await waiting.run(SURROUNDINGS);
  const ahead = await waiting.use(SURROUNDINGS);
  assert.equal(ahead.stdout, plain.stdout);
  assert.deepEqual([ahead.stderr, ahead.record.code, ahead.record.gaps], ["oops\n", 0, plain.record.gaps]);
  assert.match(ahead.stdout, /^NoNewPrivs:\t1$/m);
  assert.match(ahead.stdout, /^Seccomp:\t2$/m);
}

async function heedsItsRequest(waiting: Waiting): Promise<void> {
  const inner = join(waiting.cell.workspace, "inner");
  mkdirSync(inner);
  const env = { PATH: "/usr/bin:/bin", MINE: "yes" };
  const { stdout } = await waiting.use("pwd; echo $MINE", { cwd: inner, root: waiting.cell.workspace, env });
  assert.equal(stdout, `${inner}\nyes\n`);
  const missing = await waiting.cell.run(["/no/such/program"], waiting.sandbox);
  assert.deepEqual([missing.record.reason, missing.record.step, missing.record.errno], ["failed", "execve", 2]);
  await waiting.prepare();
  rmdirSync(inner);
  symlinkSync("/", inner);
  const { record } = await waiting.run("pwd", { cwd: inner, root: waiting.cell.workspace });
  assert.deepEqual(
    [record.reason, record.step],
    ["failed", "scope"],
    "the command started in a folder that was replaced by a link",
  );
}

async function meetsWhatChanged(waiting: Waiting): Promise<void> {
  const { cell } = waiting;
  await waiting.prepare();
  writeFileSync(join(cell.secret, "key"), "never");
  const parting = `${cell.workspace}-old`;
  renameSync(cell.workspace, parting);
  cell.own(cell.workspace);
  const { stdout, stderr } = await waiting.run(`echo 1 > here; ls; cat ${cell.secret}/key; echo 1 > ${parting}/there`);
  assert.equal(stdout, "here\n");
  assert.match(stderr, /key: (Permission denied|No such file)/);
  assert.match(stderr, /there: (Permission denied|Read-only|No such file)/);
}

async function outlivesWhatCannotBegin(waiting: Waiting): Promise<void> {
  const { workspace } = waiting.cell;
  for (let round = 0; round < 3; round++) {
    await waiting.prepare();
    for (let i = 0; i < 3; i++) {
      const { record } = await waiting.run("true", { logFile: workspace });
      assert.deepEqual([record.reason, record.step], ["failed", "log"], "a folder was accepted as a log file");
    }
    const { stdout } = await waiting.run("echo once >> times; cat times; rm times");
    assert.equal(stdout, "once\n");
  }
}

async function canBeKilled(waiting: Waiting): Promise<void> {
  const killed = await waiting.prepare();
  killed.forEach(endIfThere);
  assert.equal((await waiting.run("echo fine")).stdout, "fine\n");
  const ready = await waiting.prepare();
  const free = await waiting.run("grep ^NoNewPrivs /proc/self/status", {}, null);
  assert.equal(free.stdout, "NoNewPrivs:\t0\n", "a command without a sandbox used the preforked child");
  await until("no preforked child is running", () => [...killed, ...ready].every((pid) => !isRunning(pid)));
}

async function leavesNothingBehind(waiting: Waiting): Promise<void> {
  const { cell } = waiting;
  const ready = await waiting.prepare();
  for (const keeper of children(waiting.zygote)) if (children(keeper).length > 0) endIfThere(keeper);
  await until("the preforked children have exited with their keeper", () => ready.every((pid) => !isRunning(pid)));
  const more = await waiting.prepare();
  await cell.executor.close();
  await until("the preforked children have exited after the connection closed", () =>
    more.every((pid) => !isRunning(pid)),
  );
  await until("only keepers are left", () => children(waiting.zygote).flatMap(children).length === 0);
}

/**
 * A folder outside /tmp, because changes in /tmp would invalidate preforked children. Each test has its own folder in
 * it for the same reason.
 */
const quiet = mkdtempSync("/var/tmp/sallyport-ahead-");
chmodSync(quiet, 0o755);
const rooms = IDENTITIES.flatMap((uid) =>
  [false, true].map((isolated) => ({ uid, isolated, folder: join(quiet, `${uid}${isolated}`) })),
);
for (const { folder } of rooms) mkdirSync(folder);
after(() => rmSync(quiet, { recursive: true, maxRetries: 10 }));

async function openCell(uid: number, folder: string): Promise<Cell> {
  const usual = process.env.TMPDIR;
  process.env.TMPDIR = folder;
  const opening = Cell.open(uid);
  if (usual === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = usual;
  return await opening;
}

suite("a preforked command", { concurrency: true }, () => {
  for (const { uid, isolated, folder } of rooms) {
    const who = `of user ${uid}${isolated ? ", isolated," : ""}`;
    test(`${who} behaves like others and has no stale state`, { skip: skip || (isolated && alone) }, async () => {
      const waiting = new Waiting(await openCell(uid, folder), isolated);
      try {
        await looksTheSame(waiting);
        await heedsItsRequest(waiting);
        await outlivesWhatCannotBegin(waiting);
        await canBeKilled(waiting);
        await meetsWhatChanged(waiting);
        await leavesNothingBehind(waiting);
      } finally {
        await waiting.cell.close();
      }
    });
  }
});

test("a process that a command makes a child of its keeper is killed, and the keeper continues", {
  skip: alone,
}, async () => {
  const cell = await Cell.open();
  const sibling = cell.install("sibling");
  for (let round = 0; round < 3; round++) {
    const { stdout, record } = await cell.run([sibling], cell.sandbox({ isolated: true }));
    assert.deepEqual([stdout, record.code], ["left one\n", 0]);
  }
  await cell.close();
});
