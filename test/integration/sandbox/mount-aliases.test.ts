import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { basename, dirname, join } from "node:path";
import { after, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { sandboxCapabilities } from "../../../src/executor/native/probe.ts";
import type { MountScenario, ScenarioResult } from "../../fixtures/mount-scenario.ts";
import { visibleFolder } from "../../fixtures/visible-folder.ts";

const skip =
  process.getuid?.() !== 0 || sandboxCapabilities().mounts !== "root" ? "needs root, to mount file systems" : false;
const PROGRAM = fileURLToPath(new URL("../../fixtures/mount-scenario.ts", import.meta.url));

const folders: string[] = [];
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** A folder with a workspace, a second place to mount at, and files to attack. */
class Place {
  readonly folder = visibleFolder("mounts-");
  readonly workspace = this.make("ws");

  constructor() {
    folders.push(this.folder);
  }

  path(...names: string[]): string {
    return join(this.folder, ...names);
  }

  make(...names: string[]): string {
    mkdirSync(this.path(...names), { recursive: true });
    return this.path(...names);
  }

  put(path: string, text: string): string {
    mkdirSync(dirname(this.path(path)), { recursive: true });
    writeFileSync(this.path(path), text);
    return this.path(path);
  }

  async run(scenario: Partial<MountScenario> & Pick<MountScenario, "mounts" | "commands">): Promise<ScenarioResult[]> {
    const whole: MountScenario = { workspace: this.workspace, policy: {}, ...scenario };
    const args = ["--mount", "--propagation", "private", process.execPath, PROGRAM, JSON.stringify(whole)];
    const { stdout } = await promisify(execFile)("unshare", args);
    return JSON.parse(stdout) as ScenarioResult[];
  }
}

describe("a denied path that is mounted at a second place", { skip }, () => {
  /** Denies `data/secret`, applies mounts, and expects that none of the paths can be read but `public` can. */
  async function assertDenied(
    mounts: (place: Place) => string[][],
    { secrets, open = [], later = false }: { secrets: string[]; open?: string[]; later?: boolean },
  ): Promise<void> {
    const place = new Place();
    place.put("data/secret/key", "the key");
    place.put("data/secret/deep/key", "the key");
    place.put("data/public", "public");
    for (const name of ["second", "third", "upper", "work"]) place.make(name);
    place.put("second-file", "");
    const calls = mounts(place);
    const all = [...secrets, "data/secret/key"];
    const results = await place.run({
      mounts: later ? [] : calls,
      ...(later ? { later: calls } : {}),
      policy: { denied: [place.path("data/secret")] },
      commands: [...all, ...open].map((path) => `cat '${place.path(path.replace("NAME", basename(place.folder)))}'`),
    });
    results.slice(0, all.length).forEach(({ stdout, exitCode }, index) => {
      assert.notEqual(exitCode, 0, all[index]);
      assert.equal(stdout, "", all[index]);
    });
    for (const { stdout, stderr } of results.slice(all.length)) assert.equal(stdout, "public", stderr);
  }

  test("is denied through a bind mount of its parent", () =>
    assertDenied((place) => [["--bind", place.path("data"), place.path("second")]], {
      secrets: ["second/secret/key"],
      open: ["second/public", "data/public"],
    }));

  test("is denied through a bind mount of a folder in it", () =>
    assertDenied((place) => [["--bind", place.path("data/secret/deep"), place.path("second")]], {
      secrets: ["second/key"],
    }));

  test("is denied through a bind mount of one file in it", () =>
    assertDenied((place) => [["--bind", place.path("data/secret/key"), place.path("second-file")]], {
      secrets: ["second-file"],
    }));

  test("is denied through a bind mount of a bind mount whose name has spaces and backslashes", () =>
    assertDenied(
      (place) => {
        const odd = place.make("odd \\040 name\t#");
        return [
          ["--bind", place.path("data"), odd],
          ["--bind", odd, place.path("third")],
        ];
      },
      { secrets: ["odd \\040 name\t#/secret/key", "third/secret/key"], open: ["third/public"] },
    ));

  test("is denied in a recursive mount of everything above it", () =>
    assertDenied((place) => [["--rbind", dirname(place.folder), place.path("second")]], {
      secrets: ["second/NAME/data/secret/key"],
    }));

  test("is denied at the source of a bind mount in the denied folder", () =>
    assertDenied(
      (place) => {
        place.put("source/key", "the key");
        return [["--bind", place.path("source"), place.path("data/secret/deep")]];
      },
      { secrets: ["source/key"] },
    ));

  test("is denied through an overlay of its parent", () =>
    assertDenied(
      (place) => [
        [
          ...["-t", "overlay", "overlay", "-o"],
          `lowerdir=${place.path("data")},upperdir=${place.path("upper")},workdir=${place.path("work")}`,
          place.path("second"),
        ],
      ],
      { secrets: ["second/secret/key"], open: ["second/public"] },
    ));

  test("is denied in the layers of the overlay that it is in", async () => {
    const place = new Place();
    place.put("lower/secret/key", "the key");
    for (const name of ["upper", "work", "data"]) place.make(name);
    const options = `lowerdir=${place.path("lower")},upperdir=${place.path("upper")},workdir=${place.path("work")}`;
    const [result] = await place.run({
      mounts: [["-t", "overlay", "overlay", "-o", options, place.path("data")]],
      policy: { denied: [place.path("data/secret")] },
      commands: [`cat ${place.path("lower/secret/key")}`],
    });
    assert.equal(result?.stdout, "");
  });

  test("is denied through a mount that is created after the gateway was opened", () =>
    assertDenied((place) => [["--bind", place.path("data"), place.path("second")]], {
      secrets: ["second/secret/key"],
      open: ["second/public"],
      later: true,
    }));

  test("does not deny what a later mount shows at the same place", async () => {
    const place = new Place();
    place.put("data/secret/key", "the key");
    place.put("other/secret/key", "another file");
    place.make("second");
    const [result] = await place.run({
      mounts: [
        ["--bind", place.path("data"), place.path("second")],
        ["--bind", place.path("other"), place.path("second")],
      ],
      policy: { denied: [place.path("data/secret")] },
      commands: [`cat ${place.path("second/secret/key")}`],
    });
    assert.equal(result?.stdout, "another file");
  });

  test("is not writable through the workspace, and a socket in it is refused there", async () => {
    const place = new Place();
    place.put("data/secret/key", "the key");
    place.make("ws/second");
    const server = createServer().listen(place.path("data/secret/socket"));
    const connect = `import socket; socket.socket(socket.AF_UNIX).connect('second/secret/socket')`;
    try {
      const results = await place.run({
        mounts: [["--bind", place.path("data"), place.path("ws/second")]],
        policy: { denied: [place.path("data/secret")] },
        commands: [
          "cat second/secret/key",
          "echo x > second/secret/key",
          "mv second/secret second/moved",
          `python3 -c "${connect}"`,
          "echo x > second/public && cat second/public",
        ],
      });
      assert.deepEqual(
        results.map(({ exitCode }) => exitCode === 0),
        [false, false, false, false, true],
        JSON.stringify(results),
      );
    } finally {
      server.close();
    }
  });
});

describe("other views", { skip }, () => {
  test("protected paths are read-only under every name in writable folders", async () => {
    const place = new Place();
    place.put("ws/.vscode/tasks.json", "{}");
    place.put("ws/hooks/pre-commit", "");
    place.put("ws/.git/config", `[core]\nhooksPath = ${place.path("second/hooks")}\n`);
    place.put("ws/.git/HEAD", "ref: refs/heads/main\n");
    for (const name of ["second", "ws/again", "ws/.git/objects", "ws/.git/refs"]) place.make(name);
    const results = await place.run({
      mounts: [
        ["--bind", place.workspace, place.path("second")],
        ["--bind", place.path("ws/.git"), place.path("ws/again")],
      ],
      policy: { writable: [place.path("second")] },
      commands: [
        "echo x >> .vscode/tasks.json",
        `echo x >> ${place.path("second/.vscode/tasks.json")}`,
        "echo x >> .git/config",
        "echo x >> again/config",
        "mkdir again/hooks; echo x > again/hooks/pre-commit",
        `echo x >> ${place.path("second/.git/config")}`,
        "echo x >> hooks/pre-commit",
        `echo x >> ${place.path("second/hooks/pre-commit")}`,
        `echo x > file && cat ${place.path("second/file")}`,
      ],
    });
    assert.deepEqual(
      results.map(({ exitCode }) => exitCode === 0),
      [false, false, false, false, false, false, false, false, true],
      JSON.stringify(results),
    );
  });

  test("the processes and devices of the machine are not visible in other mounts of /proc and /dev", async () => {
    const place = new Place();
    for (const name of ["proc", "dev", "bound"]) place.make(name);
    const results = await place.run({
      mounts: [
        ["-t", "proc", "proc", place.path("proc")],
        ["-t", "devtmpfs", "devtmpfs", place.path("dev")],
        ["--bind", "/proc", place.path("bound")],
      ],
      commands: [
        `cat ${place.path("proc/1/cmdline")}`,
        `cat ${place.path("bound/1/cmdline")}`,
        `head -c1 ${place.path("dev/zero")}`,
      ],
    });
    for (const { exitCode } of results) assert.notEqual(exitCode, 0);
  });

  test("device nodes outside /dev cannot be used", async () => {
    const place = new Place();
    execFileSync("mknod", ["-m", "666", place.path("zero"), "c", "1", "5"]);
    const [outside, usual] = await place.run({
      mounts: [],
      commands: [`head -c1 ${place.path("zero")}`, "head -c1 /dev/zero | wc -c"],
    });
    assert.notEqual(outside?.exitCode, 0);
    assert.equal(usual?.stdout.trim(), "1");
  });

  test("the /tmp of the machine is not visible through a second mount of it", async () => {
    const place = new Place();
    place.make("second");
    const results = await place.run({
      mounts: [["--bind", "/tmp", place.path("second")]],
      commands: [`ls ${place.path("second")}`],
    });
    assert.equal(results[0]?.stdout, "");
  });
});
