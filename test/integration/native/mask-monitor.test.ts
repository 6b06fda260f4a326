import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { SandboxSpec } from "../../../src/core/launch.ts";
import type { Execution } from "../../../src/executor/execution.ts";
import { sandboxCapabilities } from "../../../src/executor/native/probe.ts";
import { killAndWait, send } from "../../fixtures/processes.ts";
import { Cell, IDENTITIES } from "../../fixtures/sandbox-fixture.ts";
import { until } from "../../fixtures/until.ts";

const tier = sandboxCapabilities();
const skip = tier.mounts === "none" ? "needs mount namespaces" : false;
/** The kernel's usual limit of queued inotify events; more of them are lost. */
const QUEUED_EVENTS = Number(readFileSync("/proc/sys/fs/inotify/max_queued_events", "utf8"));

const cells = await Promise.all(IDENTITIES.map((uid) => Cell.open(uid)));

/** A folder that is not below /tmp, which some sandboxes replace. */
const elsewhere = mkdtempSync(join(process.getuid?.() === 0 ? "/var/lib" : homedir(), "sallyport-elsewhere-"));
chmodSync(elsewhere, 0o755);
after(() => rmSync(elsewhere, { recursive: true }));

/** A workspace with a repository, a protected folder, and denied files inside and outside of it. */
class Workspace {
  readonly cell: Cell;
  readonly git: string;
  readonly config: string;
  readonly hooks: string;
  readonly editor: string;
  readonly secret: string;
  readonly elsewhere: string;

  constructor(cell: Cell) {
    this.cell = cell;
    this.git = join(cell.workspace, ".git");
    this.config = join(this.git, "config");
    this.hooks = join(this.git, "hooks");
    this.editor = join(cell.workspace, ".vscode");
    this.secret = join(cell.workspace, "conf", "secret");
    this.elsewhere = join(elsewhere, `shadow-${cell.uid}`);
    this.reset();
  }

  /** Restores the files, which the tests replace. */
  reset(): void {
    for (const name of [".git", ".vscode", ".zed", ".netrc", "conf"]) {
      rmSync(join(this.cell.workspace, name), { recursive: true, force: true });
    }
    for (const folder of [this.git, this.hooks, this.editor, join(this.secret, "..")]) this.cell.own(folder);
    for (const file of [this.config, this.secret, this.elsewhere]) this.write(file, "first");
  }

  write(path: string, text: string): void {
    writeFileSync(path, text);
    chownSync(path, this.cell.uid, this.cell.uid);
  }

  /** Replaces a file by rename, as git and `sed -i` do. */
  replace(path: string): void {
    this.write(`${path}.lock`, "second");
    renameSync(`${path}.lock`, path);
  }

  spec(rest: Partial<SandboxSpec> = {}): SandboxSpec {
    return this.cell.sandbox({
      readOnly: [this.config, this.hooks, this.editor],
      denied: [this.cell.state, this.secret],
      masked: [this.elsewhere],
      absent: [join(this.git, "commondir"), join(this.cell.workspace, ".netrc")],
      ...rest,
    });
  }

  /** Starts a command and waits until it runs. `text` is shell text that runs until it is killed. */
  async start(text = "while sleep 0.01; do :; done", spec = this.spec()): Promise<Execution> {
    const execution = await this.cell.start(["bash", "-c", `echo up; ${text}`], spec);
    await until("the command runs", () => this.cell.output(execution.id, "stdout").includes("up"));
    return execution;
  }

  /** Ends a command that no mask has killed, and returns its record. */
  async stop(execution: Execution) {
    await execution.kill({ signal: 15, scope: "tree", ends: true, graceMs: 5000 });
    return (await this.cell.finish(execution)).record;
  }
}

for (const cell of cells) {
  const { uid } = cell;
  after(() => cell.close());
  const at = new Workspace(cell);

  /** Changes that break a mask, and the path that the record names. */
  const breaks: [string, () => void, string[]][] = [
    ["a protected file is replaced by rename", () => at.replace(at.config), [at.config]],
    [
      "a protected file is removed and created again",
      () => {
        rmSync(at.config);
        at.write(at.config, "second");
      },
      [at.config],
    ],
    [
      "a protected file is renamed and written again",
      () => {
        renameSync(at.config, `${at.config}~`);
        at.write(at.config, "second");
      },
      [at.config],
    ],
    [
      "a protected folder is replaced",
      () => {
        renameSync(at.hooks, `${at.hooks}.old`);
        cell.own(at.hooks);
      },
      [at.hooks],
    ],
    [
      "the parent of a protected folder is replaced",
      () => {
        renameSync(at.git, `${at.git}.old`);
        mkdirSync(at.hooks, { recursive: true, mode: 0o700 });
        for (const folder of [at.git, at.hooks]) chownSync(folder, cell.uid, cell.uid);
        rmSync(`${at.git}.old`, { recursive: true });
      },
      [at.hooks],
    ],
    [
      "a denied file is replaced by `sed -i`",
      () => execFileSync("sed", ["-i", "s/first/second/", at.secret]),
      [at.secret],
    ],
    ["a masked file outside the workspace is replaced by rename", () => at.replace(at.elsewhere), [at.elsewhere]],
    [
      "a masked file outside the workspace is removed and created again",
      () => {
        rmSync(at.elsewhere);
        at.write(at.elsewhere, "second");
      },
      [at.elsewhere],
    ],
    [
      "a file that must be absent appears",
      () => at.write(join(at.git, "commondir"), ".."),
      [join(at.git, "commondir")],
    ],
    ["a denied file appears", () => at.write(join(cell.workspace, ".netrc"), "x"), [join(cell.workspace, ".netrc")]],
  ];
  for (const isolated of [false, ...(tier.isolation ? [true] : [])]) {
    for (const [what, change, paths] of breaks) {
      test(`kills ${isolated ? "an isolated" : "a"} command of user ${uid} when ${what}`, { skip }, async () => {
        at.reset();
        const execution = await at.start("while :; do echo x >> .git/config; done 2> /dev/null", at.spec({ isolated }));
        change();
        const { record } = await cell.finish(execution);
        assert.deepEqual([record.reason, record.signal], ["mask", 9]);
        assert.equal(record.masks?.reaction, "kill");
        // The command itself may have created another path before it was killed.
        for (const path of paths) assert.ok(record.masks.paths.includes(path), record.masks.paths.join(" "));
        at.reset();
        const next = await cell.sh("echo x >> .git/config", at.spec({ isolated }));
        assert.notEqual(next.record.code, 0, "the next command can write to a protected file");
        assert.equal(next.record.masks, undefined);
      });
    }
  }

  for (const isolated of [false, ...(tier.isolation ? [true] : [])]) {
    const command = isolated ? "an isolated command" : "a command";
    test(`masks paths of ${command} of user ${uid} again when the specification says so`, { skip }, async () => {
      at.reset();
      const absent = join(cell.workspace, ".netrc");
      const written = [at.config, join(at.hooks, "pre-commit")];
      const read = [at.secret, at.elsewhere, absent];
      // The command tries each path once it finds a file with the number of the round.
      const attempts = [...written.map((path) => `echo x >> ${path}`), ...read.map((path) => `grep -q second ${path}`)];
      const attempt = attempts.map((text) => `if ${text}; then echo "done: ${text}"; fi`).join("\n");
      const text = `for i in 1 2; do until [ -e go-$i ]; do sleep 0.01; done; ${attempt}\n echo round $i; done; sleep 600`;
      const spec = at.spec({ maskFailure: "warn", isolated, denied: [cell.state, at.secret, absent] });
      const execution = await at.start(`{ ${text}; } 2> /dev/null`, spec);
      for (const round of [1, 2]) {
        at.replace(at.config);
        renameSync(at.hooks, `${at.hooks}.old-${round}`);
        cell.own(at.hooks);
        at.replace(at.secret);
        at.replace(at.elsewhere);
        at.write(absent, "second");
        // The keeper replies after it has handled the events that precede the frame.
        await execution.setDeadline(60_000);
        writeFileSync(join(cell.workspace, `go-${round}`), "");
        await until("the command has tried", () => cell.output(execution.id, "stdout").includes(`round ${round}`));
      }
      for (const round of [1, 2]) rmSync(join(cell.workspace, `go-${round}`));
      rmSync(absent);
      const record = await at.stop(execution);
      assert.equal(cell.output(execution.id, "stdout"), "up\nround 1\nround 2\n");
      assert.deepEqual([record.reason, record.masks?.reaction, record.masks?.count], ["killed", "warn", 5]);
      const broken = [at.config, at.hooks, at.secret, at.elsewhere, absent];
      assert.deepEqual(new Set(record.masks?.paths), new Set(broken));
    });
  }

  test(`other changes in the workspace do not kill a command of user ${uid}`, { skip }, async () => {
    at.reset();
    const execution = await at.start();
    at.replace(join(at.git, "index"));
    writeFileSync(at.config, "edited in place");
    writeFileSync(join(at.hooks, "pre-commit"), "exit 1");
    at.replace(join(at.hooks, "pre-commit"));
    at.replace(join(at.editor, "settings.json"));
    renameSync(join(at.secret, ".."), join(cell.workspace, "renamed"));
    renameSync(join(cell.workspace, "renamed"), join(at.secret, ".."));
    rmSync(at.secret);
    rmSync(at.elsewhere);
    rmSync(at.git, { recursive: true });
    const record = await at.stop(execution);
    assert.deepEqual([record.reason, record.masks], ["killed", undefined]);
  });

  test(`detects a broken mask of user ${uid} although events were lost`, { skip }, async () => {
    at.reset();
    for (const hidden of [false, true]) {
      const execution = await at.start();
      send(execution.keeperPid, "SIGSTOP");
      for (let i = 0; i <= QUEUED_EVENTS / 3; i++) at.replace(join(at.git, "index"));
      // Without a lost event, only a watch reports this: the kernel moves the mount with the folder.
      if (hidden) {
        renameSync(at.hooks, `${at.hooks}.old`);
        cell.own(at.hooks);
      }
      send(execution.keeperPid, "SIGCONT");
      if (hidden) {
        const { record } = await cell.finish(execution);
        assert.deepEqual(record.masks, { reaction: "kill", count: 1, paths: [at.hooks] });
      } else {
        assert.equal((await at.stop(execution)).masks, undefined);
      }
    }
  });

  test(`a command of user ${uid} that causes many events does not delay the reaction`, { skip }, async () => {
    at.reset();
    const flood = "while :; do echo > .git/x; mv .git/x .git/y; mkdir .zed; rmdir .zed; done";
    const spec = at.spec({ readOnly: [...at.spec().readOnly, join(cell.workspace, ".zed")] });
    const execution = await at.start(`${flood} & ${flood}`, spec);
    at.replace(at.config);
    assert.equal((await cell.finish(execution)).record.reason, "mask");
  });

  test(`kills every command of user ${uid} that shares the workspace`, { skip }, async () => {
    at.reset();
    const executions = [await at.start(), await at.start(), await at.start(undefined, at.spec({ network: "off" }))];
    at.replace(at.config);
    for (const execution of executions) assert.equal((await cell.finish(execution)).record.reason, "mask");
  });

  test(`a mask that breaks between commands of user ${uid} is set up again`, { skip }, async () => {
    at.reset();
    for (let i = 0; i < 3; i++) await cell.sh("true", at.spec());
    // The same file under the same name, but the kernel has dropped the mount.
    execFileSync("sh", ["-c", "ln config other && rm config && mv other config"], { cwd: at.git });
    const { record } = await cell.sh("echo x >> .git/config", at.spec());
    assert.deepEqual([record.code, record.masks, readFileSync(at.config, "utf8")], [1, undefined, "first"]);
  });

  test(`reports protected paths that a command of user ${uid} creates, however it does so`, { skip }, async () => {
    const create = [
      "mkdir .zed",
      "mkdir x && touch -d 2001-01-01 x && mv x .zed",
      "ln -s /tmp .zed",
      "mkdir -p a/.zed && mv a/.zed .",
    ];
    const created = join(cell.workspace, ".zed");
    for (const text of create) {
      at.reset();
      const spec = at.spec({ readOnly: [at.config, created] });
      for (const command of [text, "true"]) {
        const { record } = await cell.sh(command, spec);
        assert.deepEqual(record.created, command === "true" ? undefined : { count: 1, paths: [created] }, command);
      }
      rmSync(created, { recursive: true });
      assert.equal((await cell.sh("mkdir .zed; rmdir .zed", spec)).record.created, undefined);
    }
  });
}

const EXHAUSTED_UID = 54_321;
const notRoot = process.getuid?.() === 0 ? skip : "only root can run commands as another user";
test("commands run without a monitor when the limits of inotify are exhausted", { skip: notRoot }, async () => {
  const cell = await Cell.open(EXHAUSTED_UID);
  after(() => cell.close());
  const at = new Workspace(cell);
  const program = spawn(cell.install("hold-inotify"), {
    uid: EXHAUSTED_UID,
    gid: EXHAUSTED_UID,
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(program.stdout, "data");
  const absent = at.spec().absent.filter((path) => !path.endsWith(".netrc"));
  const { record } = await cell.sh("true", at.spec({ require: true, absent }));
  assert.deepEqual([record.code, record.gaps], [0, ["mask-monitor"]]);
  const execution = await at.start();
  at.replace(at.config); // the mount table of the kernel still reports this
  assert.equal((await cell.finish(execution)).record.reason, "mask");
  await killAndWait(program);
});
