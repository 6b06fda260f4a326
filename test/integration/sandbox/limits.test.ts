import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";
import { ConfinedFixture } from "./confined-fixture.ts";

const fixture = new ConfinedFixture();
after(() => fixture.close());

const LIMITS = `for what in c n f u; do echo "$what $(ulimit -S$what) $(ulimit -H$what)"; done`;

/** Returns the soft and hard limits of a command by the letter of the `ulimit` option. */
async function limits(
  config: Parameters<typeof fixture.confinement>[0] = {},
): Promise<Record<string, [string, string]>> {
  const { stdout } = await fixture.run({ command: LIMITS }, fixture.confinement(config));
  return Object.fromEntries(
    stdout
      .trim()
      .split("\n")
      .map((line) => line.split(" ") as [string, string, string])
      .map(([what, soft, hard]) => [what, [soft, hard]]),
  );
}

/** Returns a limit of this process, which the zygote inherits. */
function own(name: string): { soft: number; hard: number } {
  const line =
    readFileSync("/proc/self/limits", "utf8")
      .split("\n")
      .find((text) => text.startsWith(name)) ?? "";
  const [soft, hard] = line
    .slice(26)
    .trim()
    .split(/\s+/)
    .map((text) => (text === "unlimited" ? Number.POSITIVE_INFINITY : Number(text)));
  return { soft: soft ?? 0, hard: hard ?? 0 };
}

const shown = (value: number) => (value === Number.POSITIVE_INFINITY ? "unlimited" : String(value));

test("by default core dumps are off, and limits on open files and file sizes are inherited", async () => {
  const seen = await limits();
  assert.equal(seen.c?.[0], "0");
  assert.deepEqual(seen.n, [shown(Math.min(1024, own("Max open files").hard)), shown(own("Max open files").hard)]);
  assert.deepEqual(seen.f, [shown(own("Max file size").soft), shown(own("Max file size").hard)]);
});

test("the per-user process limit is far above that of a tree, and never raised", async () => {
  const { soft } = own("Max processes");
  const most = Number((await limits({ limits: { processes: 100 } })).u?.[0]?.replace("unlimited", "Infinity"));
  assert.ok(most >= Math.min(soft, 400) && most <= soft, `the limit is ${most}, the inherited one ${soft}`);
});

test("a command cannot exceed or raise a configured limit on open files", async () => {
  const confinement = fixture.confinement({ limits: { openFiles: 50 } });
  assert.deepEqual((await limits({ limits: { openFiles: 50 } })).n, ["50", "50"]);
  const { stdout } = await fixture.run(
    {
      command:
        'ulimit -Sn 51 2>/dev/null || echo no; for i in {3..80}; do eval "exec $i</dev/null" || { echo $i; break; }; done',
    },
    confinement,
  );
  assert.match(stdout, /^no\n(?:49|50)\n$/);
});

test("a command that exceeds the configured file size gets SIGXFSZ", async () => {
  const confinement = fixture.confinement({ limits: { fileSize: 100_000 } });
  const { record } = await fixture.run({ command: "exec head -c 300000 /dev/zero > big" }, confinement);
  assert.equal(record.signal, 25);
  assert.equal(readFileSync(fixture.path("big")).length, 100_000);
});

test("the limits of a command do not apply to the keeper's files", async () => {
  const { record } = await fixture.run(
    { command: "head -c 300000 /dev/zero" },
    fixture.confinement({ limits: { fileSize: 4096, openFiles: 20 } }),
  );
  assert.deepEqual([record.code, record.streams[0]?.bytes], [0, 300_000]);
});

test("a command inherits no secrets, hooks or shell functions", async () => {
  const parent = {
    GITHUB_TOKEN: "hunter2",
    LD_DEBUG: "help",
    BASH_ENV: "/etc/passwd",
    "BASH_FUNC_ls%%": "() { echo owned; }",
    LANG: "C",
  };
  const { stdout, stderr } = await fixture.run(
    { command: "ls -d /; env", env: { GIVEN: "1" } },
    fixture.confinement({}, parent),
  );
  assert.match(stdout, /^\/\n/);
  assert.match(stdout, /^LANG=C$/m);
  assert.match(stdout, /^GIVEN=1$/m);
  assert.doesNotMatch(stdout + stderr, /hunter2|LD_DEBUG|BASH_ENV|BASH_FUNC|owned/);
});
