import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { sandboxCapabilities } from "../../../src/executor/native/probe.ts";
import { Cell, IDENTITIES } from "../../fixtures/sandbox-fixture.ts";

const tier = sandboxCapabilities();
const skip = tier.seccomp ? false : "needs seccomp";
const X86 = process.arch === "x64";

/** System calls that the sandbox denies, with their numbers on this architecture. */
const REFUSED: Record<string, number> = X86
  ? {
      mount: 165,
      umount2: 166,
      pivot_root: 155,
      chroot: 161,
      open_tree: 428,
      move_mount: 429,
      fsopen: 430,
      fsconfig: 431,
      fsmount: 432,
      fspick: 433,
      mount_setattr: 442,
      open_by_handle_at: 304,
      quotactl: 179,
      kexec_load: 246,
      kexec_file_load: 320,
      init_module: 175,
      finit_module: 313,
      delete_module: 176,
      bpf: 321,
      perf_event_open: 298,
      userfaultfd: 323,
      io_uring_setup: 425,
      io_uring_enter: 426,
      io_uring_register: 427,
      reboot: 169,
      swapon: 167,
      swapoff: 168,
      acct: 163,
      settimeofday: 164,
      clock_settime: 227,
      sethostname: 170,
      add_key: 248,
      request_key: 249,
      keyctl: 250,
      setns: 308,
      iopl: 172,
      ioperm: 173,
      modify_ldt: 154,
    }
  : { mount: 40, umount2: 39, pivot_root: 41, chroot: 51, bpf: 280, io_uring_setup: 425, keyctl: 219, setns: 268 };

for (const uid of IDENTITIES) {
  const cell = await Cell.open(uid);
  const attempt = cell.install("attempt");
  after(() => cell.close());
  const tried = async (...what: string[]) => (await cell.run([attempt, ...what], cell.sandbox())).stdout.trim();

  test(`user ${uid} cannot make system calls that reach beyond its sandbox`, { skip }, async () => {
    const words = Object.values(REFUSED).map((number) => `${attempt} call ${number}`);
    const { stdout } = await cell.sh(words.join("\n"));
    const answers = stdout.trim().split("\n");
    for (const [index, name] of Object.keys(REFUSED).entries()) assert.equal(answers[index], "EPERM", name);
  });

  test(`user ${uid} cannot take leases or create snapshots of file systems`, { skip }, async () => {
    for (const name of ["lease", "snapshot-btrfs", "snapshot-btrfs-v2", "snapshot-bcachefs"])
      assert.equal(await tried(name), "EPERM", name);
    assert.notEqual((await cell.run([attempt, "lease"], null)).stdout, "EPERM\n");
  });

  test(`user ${uid} cannot create namespaces or use system calls of other ABIs`, { skip }, async () => {
    for (const flag of [
      "0x20000",
      "0x10000000",
      "0x20000000",
      "0x40000000",
      "0x8000000",
      "0x4000000",
      "0x2000000",
      "0x80",
    ]) {
      assert.equal(await tried("unshare", flag), "EPERM", flag);
    }
    assert.equal(await tried("unshare", "0x400"), "done", "unsharing the descriptor table was denied");
    assert.equal(await tried("clone"), "EPERM");
    assert.equal(await tried("clone3"), "ENOSYS");
    assert.equal(await tried("call", "437"), "ENOSYS", "openat2");
    if (!X86) return;
    assert.equal(await tried("x32"), "ENOSYS");
    const { record } = await cell.run([attempt, "int80"], cell.sandbox());
    assert.equal(record.signal, 31, "SIGSYS");
    assert.equal((await cell.run([attempt, "int80"], null)).record.signal === 31, false);
  });

  test(`user ${uid} cannot inject input into a terminal, not even its own`, { skip }, async () => {
    assert.equal(await tried("tiocsti"), "EPERM");
    assert.equal(await tried("tiocsti-wide"), "EPERM");
    assert.equal(await tried("tioclinux"), "EPERM");
  });

  test(`user ${uid} cannot create set-id files or device nodes`, {
    skip,
  }, async () => {
    const file = join(cell.workspace, "program");
    assert.equal(await tried("create", file, "755"), "done");
    for (const mode of ["4755", "2755", "6755"]) assert.equal(await tried("chmod", file, mode), "EPERM", mode);
    assert.equal(await tried("chmod", file, "1755"), "done");
    assert.equal(await tried("create", join(cell.workspace, "other"), "4755"), "EPERM");
    assert.ok(!existsSync(join(cell.workspace, "other")));
    assert.equal(await tried("device", join(cell.workspace, "device")), "EPERM");
    assert.equal(await tried("fifo", join(cell.workspace, "fifo")), "done");
    assert.equal((await cell.run([attempt, "chmod", file, "4755"], null)).stdout, "done\n");
  });

  test(`user ${uid} can still make common system calls`, { skip }, async () => {
    for (const what of ["own-limit", "nice", "affinity"]) assert.equal(await tried(what, "0"), "done", what);
    assert.equal(await tried("personality", "0xffffffff"), "done");
    assert.equal(await tried("personality", "0x400000"), "EPERM", "READ_IMPLIES_EXEC");
    assert.equal(await tried("trace-child"), tier.landlock > 0 ? "done" : "EPERM");
    assert.equal(await tried("stream-pair"), "done");
    const { stdout } = await cell.sh(
      "(echo a & echo b & wait) | sort | tr -d '\\n'; nice -n 1 true && ulimit -S -n 100 && ulimit -n",
    );
    assert.equal(stdout, "ab100\n");
  });

  test(`user ${uid} has only harmless capabilities, and gains none`, { skip }, async () => {
    const { stdout } = await cell.sh("grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status");
    const seen = Object.fromEntries(
      stdout
        .trim()
        .split("\n")
        .map((line) => line.split(":\t")),
    );
    assert.deepEqual([seen.NoNewPrivs, seen.Seccomp], ["1", "2"]);
    const own = Number.parseInt(seen.CapEff ?? "", 16);
    // chown, dac_override, fowner, fsetid, kill (Landlock restricts signals), setgid, setuid, net_bind_service
    const harmless = tier.landlock >= 6 ? 0x4fb : 0x4db;
    assert.equal(own & ~harmless, 0, seen.CapEff);
    assert.equal(Number.parseInt(seen.CapInh ?? "", 16) + Number.parseInt(seen.CapAmb ?? "", 16), 0);
    const root = process.getuid?.() === 0 && uid === 0;
    if (root) assert.equal(Number.parseInt(seen.CapBnd ?? "", 16) & ~harmless, 0);
    const keepers = Number.parseInt(/^CapEff:\t(\w+)/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? "0", 16);
    if (root) assert.ok(keepers > own, "no capabilities were dropped");
  });
}
