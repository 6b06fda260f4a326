import assert from "node:assert/strict";
import { once } from "node:events";
import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { after, test } from "node:test";
import { Worker } from "node:worker_threads";
import { sandboxCapabilities } from "../../../src/executor/native/probe.ts";
import { socketPath } from "../../../src/executor/native/zygote.ts";
import { Cell, IDENTITIES } from "../../fixtures/sandbox-fixture.ts";

const tier = sandboxCapabilities();
const skip = tier.landlock < 3 || tier.mounts === "none" ? "needs Landlock 3 and mount namespaces" : false;

/** Creates a file to which the commands' user has full access without a sandbox. */
function put(cell: Cell, path: string, text: string): string {
  writeFileSync(path, text);
  chownSync(path, cell.uid, cell.uid);
  return path;
}

for (const uid of IDENTITIES) {
  const cell = await Cell.open(uid);
  const attempt = cell.install("attempt");
  const outside = put(cell, join(cell.folder, "outside"), "outside");
  after(() => cell.close());
  const tried = async (what: string[], sandbox = cell.sandbox()) =>
    (await cell.run([attempt, ...what], sandbox)).stdout.trim();

  test(`user ${uid} can write to the workspace and its temporary directory`, { skip }, async () => {
    const { record, stdout, stderr } = await cell.sh(
      `cd $CELL/workspace && mkdir a b && echo 1 > a/x && mv a/x b/y && ln b/y b/z && ln -s y b/l && chmod 700 b/y &&
       touch -d 2001-01-01 b/z && truncate -s 0 b/y && rm -r a b && echo 2 > $CELL/temporary/t && rm $CELL/temporary/t &&
       echo 3 > /dev/null && echo 4 > /dev/shm/$$ && rm /dev/shm/$$ && echo 5 > /dev/stderr && echo fine`,
    );
    assert.deepEqual([record.code, stdout, stderr, record.gaps], [0, "fine\n", "5\n", undefined]);
  });

  test(`user ${uid} cannot write anywhere else, by any path or system call`, { skip }, async () => {
    symlinkSync(outside, join(cell.workspace, "link"));
    const before = statSync(outside);
    const attempts: [string[], RegExp][] = [
      [["write", outside], /^(EACCES|EROFS)$/],
      [["write", `${cell.workspace}/../outside`], /^(EACCES|EROFS)$/],
      [["write", "link"], /^(EACCES|EROFS)$/],
      [["write", `/proc/self/root${outside}`], /^(EACCES|EROFS)$/],
      [["write", join(cell.folder, "new")], /^(EACCES|EROFS)$/],
      [["truncate", outside], /^(EACCES|EROFS)$/],
      [["chmod", outside, "777"], /^EROFS$/],
      [["chown", outside], /^EROFS$/],
      [["utimes", outside], /^EROFS$/],
      [["utimes", "link"], /^EROFS$/],
      [["rename", outside, "mine"], /^(EXDEV|EACCES|EROFS)$/],
      [["rename", "link", join(cell.folder, "theirs")], /^(EXDEV|EACCES|EROFS)$/],
      [["link", outside, "mine"], /^(EXDEV|EACCES|EROFS)$/],
      [["fifo", join(cell.folder, "pipe")], /^(EACCES|EROFS)$/],
    ];
    for (const [what, refusal] of attempts) assert.match(await tried(what), refusal, what.join(" "));
    const now = statSync(outside);
    assert.deepEqual(
      [now.mode, now.uid, now.size, now.mtimeMs],
      [before.mode, before.uid, before.size, before.mtimeMs],
    );
    for (const what of [
      ["write", outside],
      ["chmod", outside, "600"],
      ["utimes", outside],
    ]) {
      const { stdout } = await cell.run([attempt, ...what], null);
      assert.equal(stdout, "done\n", `${what.join(" ")} failed without a sandbox`);
    }
    rmSync(join(cell.workspace, "link"));
  });

  test(`user ${uid} can read all files except denied ones`, { skip }, async () => {
    const key = put(cell, join(cell.secret, "key"), "hidden");
    const old = join(cell.folder, "old-name");
    linkSync(key, old);
    symlinkSync(key, join(cell.workspace, "to-key"));
    assert.equal(await tried(["read", "/etc/passwd"]), "done");
    assert.match(await tried(["read", key]), /^(EACCES|ENOENT)$/);
    assert.match(await tried(["read", "to-key"]), /^(EACCES|ENOENT)$/);
    assert.match(await tried(["read", `/proc/self/root${key}`]), /^(EACCES|ENOENT)$/);
    const { stdout } = await cell.sh(
      "ls -A $CELL/secret; cat $CELL/secret/* $CELL/state/* 2>/dev/null; tar c $CELL/secret",
    );
    assert.ok(!stdout.includes("hidden"));
    assert.equal((await cell.run([attempt, "read", key], null)).stdout, "done\n");
    // A path is denied by its name, so an existing hard link with another name can be read.
    assert.equal(await tried(["read", old]), "done");
    rmSync(old);
    rmSync(join(cell.workspace, "to-key"));
  });

  test(`user ${uid} can read new files next to a denied path at once`, {
    skip,
  }, async () => {
    for (let i = 0; i < 60; i++) {
      const news = put(cell, join(cell.folder, `news-${i}`), `${i}`);
      assert.equal((await cell.run(["cat", news], cell.sandbox())).stdout, `${i}`);
      const more = put(cell, join(cell.folder, `more-${i}`), `${i}`);
      assert.equal((await cell.run(["cat", more], cell.sandbox())).stdout, `${i}`);
    }
  });

  test(`commands of user ${uid} start while a read-only path is replaced continuously`, {
    skip,
  }, async () => {
    const path = put(cell, join(cell.workspace, "replaced"), "");
    const replace = `const { renameSync, writeFileSync } = require("node:fs");
      const { workerData: path } = require("node:worker_threads");
      setInterval(() => {
        for (let i = 0; i < 200; i++) {
          writeFileSync(path + ".new", "");
          renameSync(path + ".new", path);
        }
      }, 0);`;
    const other = new Worker(replace, { eval: true, workerData: path });
    try {
      for (let i = 0; i < 100; i++) {
        const { record } = await cell.run(["true"], cell.sandbox({ readOnly: [path], maskFailure: "warn" }));
        assert.deepEqual([record.reason, record.step, record.code], ["exited", undefined, 0]);
      }
    } finally {
      await other.terminate();
    }
  });

  test(`a denied path that is created while a command of user ${uid} runs stays denied`, { skip }, async () => {
    const later = join(cell.folder, "later");
    const sandbox = cell.sandbox({ denied: [cell.state, cell.secret, later, join(cell.folder, "deep", "er")] });
    const execution = await cell.start(["bash", "-c", "read; cat $CELL/later $CELL/deep/er; true"], sandbox, {
      stdin: "open",
    });
    const release = execution.hold();
    assert.notEqual(await execution.started, null);
    put(cell, later, "late secret");
    mkdirSync(join(cell.folder, "deep"));
    put(cell, join(cell.folder, "deep", "er"), "deep secret");
    await execution.write(Buffer.from("\n"));
    const { stdout, stderr } = await cell.finish(execution);
    release();
    assert.equal(stdout, "");
    assert.match(stderr, /later: Permission denied\n.*er: Permission denied/);
    assert.match(await tried(["read", later], sandbox), /^(EACCES|ENOENT)$/);
    rmSync(later);
    rmSync(join(cell.folder, "deep"), { recursive: true });
  });

  test(`a denied file that is replaced while a command of user ${uid} runs stays denied`, { skip }, async () => {
    const file = put(cell, join(cell.folder, "shadow"), "old secret");
    const sandbox = cell.sandbox({ denied: [cell.state, cell.secret, file] });
    const execution = await cell.start(["bash", "-c", "read; cat $CELL/shadow"], sandbox, { stdin: "open" });
    const release = execution.hold();
    assert.notEqual(await execution.started, null);
    // The mask disappears with the file that it covers, as in the case of `useradd` and /etc/shadow.
    renameSync(put(cell, `${file}+`, "new secret"), file);
    await execution.write(Buffer.from("\n"));
    const { stdout, stderr } = await cell.finish(execution);
    release();
    assert.deepEqual([stdout, /Permission denied|No such file/.test(stderr)], ["", true], stderr);
    rmSync(file);
  });

  test(`a denied path in a writable folder of user ${uid} is masked, or reported as unsupported`, {
    skip,
  }, async () => {
    const inside = join(cell.workspace, "inside");
    const sandbox = cell.sandbox({ denied: [cell.state, inside] });
    assert.deepEqual((await cell.run(["true"], sandbox)).record.gaps, ["denied-later"]);
    const { record } = await cell.run(["true"], { ...sandbox, require: true });
    assert.deepEqual([record.reason, record.step, record.gaps], ["failed", "sandbox-require", ["denied-later"]]);
    put(cell, inside, "hidden");
    assert.match(await tried(["read", inside], sandbox), /^(EACCES|ENODATA)$/); // root can open the mask itself
    assert.match(await tried(["rename", inside, "elsewhere"], sandbox), /^EBUSY$/);
    assert.equal((await cell.run(["true"], { ...sandbox, require: true })).record.code, 0);
    rmSync(inside);
  });

  test(`user ${uid} cannot change read-only paths, not even by moving their folder`, { skip }, async () => {
    cell.own(join(cell.workspace, ".git/hooks"));
    chownSync(join(cell.workspace, ".git"), cell.uid, cell.uid);
    put(cell, join(cell.workspace, ".git/config"), "old");
    const readOnly = [".git/hooks", ".git/config", "missing"].map((name) => join(cell.workspace, name));
    const sandbox = cell.sandbox({ readOnly });
    assert.equal(await tried(["write", ".git/config"], sandbox), "EROFS");
    assert.equal(await tried(["write", ".git/hooks/post-commit"], sandbox), "EROFS");
    assert.equal(await tried(["chmod", ".git/config", "666"], sandbox), "EROFS");
    assert.equal(await tried(["rename", ".git", "away"], sandbox), "EBUSY");
    assert.equal(await tried(["rename", ".git/config", "away"], sandbox), "EXDEV");
    assert.equal(await tried(["rename", ".git/hooks", ".git/other"], sandbox), "EBUSY");
    assert.equal(await tried(["write", ".git/HEAD"], sandbox), "done");
    assert.equal(await tried(["write", "missing"], sandbox), "done");
    assert.equal(readFileSync(join(cell.workspace, ".git/config"), "utf8"), "old");
    assert.equal((await cell.run([attempt, "write", ".git/config"], null)).stdout, "done\n");
  });

  test(`the next command of user ${uid} sees paths that were replaced in between`, { skip }, async () => {
    const path = join(cell.workspace, "path");
    const sandbox = cell.sandbox({ readOnly: [path] });
    assert.equal(await tried(["write", path], sandbox), "done", "a path that did not exist could not be created");
    assert.equal(await tried(["write", path], sandbox), "EROFS", "an existing path was not read-only");
    // Editors save a file by renaming a new one over it, which removes the mount in every other namespace.
    put(cell, `${path}.new`, "new");
    renameSync(`${path}.new`, path);
    assert.equal(await tried(["write", path], sandbox), "EROFS", "a replaced path was not read-only");
    rmSync(path);
    put(cell, path, "again");
    assert.equal(await tried(["write", path], sandbox), "EROFS", "a path that was created again was not read-only");
    const other = join(cell.folder, "other");
    const wide = cell.sandbox({ writable: [cell.workspace, other] });
    cell.own(other);
    assert.equal(await tried(["write", join(other, "x")], wide), "done");
    rmSync(other, { recursive: true });
    cell.own(other);
    assert.equal(
      await tried(["write", join(other, "x")], wide),
      "done",
      "a new folder of the same name was not writable",
    );
    rmSync(other, { recursive: true });
    symlinkSync(cell.secret, other);
    assert.match(
      await tried(["write", join(other, "x")], wide),
      /^(EACCES|EROFS|ENOENT)$/,
      "a folder that was replaced by a link was writable",
    );
    assert.ok(!existsSync(join(cell.secret, "x")));
    rmSync(other);
  });

  test(`user ${uid} can reach neither the keeper's socket nor denied or masked sockets`, { skip }, async (t) => {
    const keeperSocket = socketPath(cell.state);
    assert.match(await tried(["connect-unix", keeperSocket]), /^(EACCES|ENOENT|ECONNREFUSED)$/);
    const docker = join(cell.folder, "docker.sock");
    const server = createServer((socket) => socket.on("error", () => {}).end("hello")).listen(docker);
    await once(server, "listening");
    t.after(() => server.close());
    chmodSync(docker, 0o777);
    assert.match(
      await tried(["connect-unix", docker], cell.sandbox({ denied: [cell.state, docker] })),
      /^(EACCES|ECONNREFUSED)$/,
    );
    const hidden = cell.sandbox({ masked: [docker, join(cell.folder, "not-there")] });
    assert.match(await tried(["connect-unix", docker], hidden), /^(EACCES|ECONNREFUSED)$/);
    const listed = { ...hidden, sockets: [docker] };
    assert.equal(await tried(["connect-unix", docker], listed), tier.socketBroker ? "done" : "EPERM");
  });

  test(`a keeper rejects sandboxed commands of user ${uid}, even if its socket is visible`, { skip }, async () => {
    const keeperSocket = socketPath(cell.state);
    const shown = cell.sandbox({ denied: [cell.secret] });
    const rejected = tier.socketBroker ? "ECONNRESET" : "EPERM";
    for (const rest of [{ sockets: [cell.folder] }, { isolated: tier.isolation, writable: [cell.folder] }]) {
      assert.equal(await tried(["connect-unix", keeperSocket], { ...shown, ...rest }), rejected);
    }
    assert.equal((await cell.run([attempt, "connect-unix", keeperSocket], null)).stdout, "done\n");
  });

  test(`user ${uid} can use only common devices, and no terminals of others`, {
    skip,
  }, async () => {
    for (const usual of ["/dev/zero", "/dev/urandom"]) assert.equal(await tried(["read", usual]), "done");
    const { stdout } = await cell.sh(
      `for d in /dev/*; do if [ -b "$d" ] || [ "$d" = /dev/kmsg ] || [ "$d" = /dev/mem ]; then head -c 1 "$d" > /dev/null && echo "$d"; fi; done; ls /dev/pts`,
    );
    assert.equal(stdout, "ptmx\n");
  });

  test(`user ${uid} sees only the names of processes outside`, { skip }, async () => {
    appendFileSync(join(cell.secret, "key"), "");
    const keeper = (await cell.start(["sleep", "0"], null)).keeperPid;
    for (const file of ["environ", "mem", "maps", "fd/0", "root/etc/passwd", "cwd/."]) {
      assert.match(await tried(["read", `/proc/${keeper}/${file}`]), /^(EACCES|EPERM|ENOENT|EISDIR)$/, file);
    }
    assert.equal(await tried(["ptrace", String(keeper)]), "EPERM");
    assert.equal(await tried(["vm-read", String(keeper)]), "EPERM");
    assert.equal(await tried(["limit-of", String(keeper)]), "EPERM");
    if (tier.landlock >= 6) assert.equal(await tried(["signal", String(keeper)]), "EPERM");
  });
}
