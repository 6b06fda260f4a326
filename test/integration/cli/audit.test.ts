import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { AuditLog } from "../../../src/storage/audit.ts";
import { openDatabase } from "../../../src/storage/database.ts";
import { newEntry } from "../../fixtures/audit-entries.ts";
import { outcome, Sandbox } from "../../fixtures/sallyport.ts";
import { until } from "../../fixtures/until.ts";

const box = new Sandbox();
after(() => box.remove());

function withLog<T>(use: (log: AuditLog, execute: (sql: string) => void) => T, state = box.state): T {
  mkdirSync(state, { recursive: true, mode: 0o700 });
  const database = openDatabase(join(state, "sallyport.db"));
  try {
    return use(new AuditLog(database), (sql) => database.exec(sql));
  } finally {
    database.close();
  }
}

before(() =>
  withLog((log) => {
    for (let number = 1; number <= 30; number++) log.append(newEntry({ agent: "a", summary: `make ${number}` }));
    log.append(newEntry({ agent: "b", session: "s1", outcome: "blocked", summary: "echo \x1b[31mred\n\u202e" }));
  }),
);

test("prints the latest 20 entries in a pipe, one escaped line each", async () => {
  const { stdout, code } = await box.run(["audit"]);
  const lines = stdout.trimEnd().split("\n");
  assert.equal(code, 0);
  assert.equal(lines.length, 20);
  assert.match(lines[0] ?? "", /^12\t\d{4}-.*Z\trun\tallowed\ta\t-\tagent default\tlibrary\tmake 12$/);
  assert.match(lines.at(-1) ?? "", /^31\t.*\tblocked\tb\ts1\t.*\techo \\e\[31mred\\n\\u\{202e\}$/);
});

test("prints a table that fits the terminal", async () => {
  const { stdout } = await box.terminal(["audit", "tail", "-n", "2"], { columns: 90, env: { NO_COLOR: "1" } });
  const lines = stdout.trimEnd().split(/\r?\n/);
  assert.match(lines[0] ?? "", /^ +SEQ {2}TIME +KIND +OUTCOME +ACTOR +SUMMARY$/);
  assert.match(lines[2] ?? "", /^ +31 {2}\d\d-\d\d \d\d:\d\d:\d\dZ {2}run +blocked +agent default +echo \\e/);
  assert.ok(lines.every((line) => line.length <= 90));
});

test("--json prints one line per entry with its detail and hash", async () => {
  const { stdout } = await box.run(["audit", "--json", "-n", "1"]);
  const { at: _, hash, ...entry } = JSON.parse(stdout);
  assert.match(hash, /^[0-9a-f]{64}$/);
  assert.deepEqual(entry, {
    seq: 31,
    ...newEntry({ agent: "b", session: "s1", outcome: "blocked", summary: "echo \x1b[31mred\n\u202e" }),
  });
});

test("searches by text and by field, page by page", async () => {
  const seqs = async (...args: string[]) =>
    (await box.run(["audit", "search", ...args])).stdout
      .split("\n")
      .filter(Boolean)
      .map((line) => line.split("\t")[0]);
  assert.deepEqual(await seqs("MAKE 3"), ["3", "30"]);
  assert.deepEqual(await seqs("make", "3", "--before", "30"), ["3"]);
  assert.deepEqual(await seqs("--outcome", "blocked"), ["31"]);
  assert.deepEqual(await seqs("--agent", "b", "--session", "s1", "--since", "1h", "--kind", "run"), ["31"]);
  assert.deepEqual(await seqs("--until", "1h"), []);
  assert.deepEqual(await seqs("-n", "2"), ["30", "31"]);
});

test("export prints all matching entries as JSON lines", async () => {
  const { stdout } = await box.run(["audit", "export", "--agent", "a"]);
  assert.deepEqual(
    stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).seq),
    Array.from({ length: 30 }, (_, index) => index + 1),
  );
  assert.equal((await box.run(["audit", "export"], { shell: "| head -n 1" })).stderr, "");
});

test("tail -f prints new entries", async () => {
  const child = box.spawn(["audit", "tail", "-f", "-n", "1", "--agent", "follow", "--json"]);
  let text = "";
  child.stdout?.on("data", (data) => {
    text += data;
  });
  const ended = outcome(child);
  try {
    // Entries added before the program has started are not followed, so append until one is printed.
    await until("an entry is printed", () => {
      withLog((log) => log.append(newEntry({ agent: "follow", summary: "live" })));
      return text.includes("live");
    });
  } finally {
    child.kill("SIGTERM");
    await ended;
  }
  assert.ok(
    text
      .trimEnd()
      .split("\n")
      .every((line) => JSON.parse(line).agent === "follow"),
  );
});

test("verify exits with 0 and prints the head, or with 1 and names the broken entry", async () => {
  const state = join(box.folder, "verified");
  withLog((log) => {
    for (let number = 0; number < 5; number++) log.append(newEntry());
  }, state);
  const verify = (...args: string[]) => box.run(["audit", "verify", "--state", state, ...args]);
  const whole = await verify();
  assert.equal(whole.code, 0);
  const [, head = ""] = /^intact\t5\t(5:[0-9a-f]{64})\n$/.exec(whole.stdout) ?? [];
  assert.equal((await verify("--anchor", head)).code, 0);

  const other = `5:${"0".repeat(64)}`;
  const forged = await verify("--anchor", other, "--json");
  assert.equal(forged.code, 1);
  assert.deepEqual(JSON.parse(forged.stdout).broken, { seq: 5, why: "it does not match the anchor" });

  withLog((_, execute) => execute("UPDATE audit SET outcome = 'denied' WHERE seq = 3"), state);
  const broken = await verify();
  assert.equal(broken.code, 1);
  assert.equal(broken.stdout, "broken\t3\tit was altered or inserted\n");
  const person = await box.terminal(["audit", "verify", "--state", state]);
  assert.match(person.stdout, /The audit log is broken at entry 3: /);
  assert.match(person.stdout, /The 2 entries before it are intact\./);
});

test("reports usage errors", async () => {
  const cases: [string[], RegExp][] = [
    [["audit", "verfiy"], /unknown subcommand `audit verfiy`; use tail, search, verify, export/],
    [["audit", "verify", "x"], /unexpected argument `x` for `audit verify`/],
    [["audit", "verify", "--anchor", "5:xyz"], /`--anchor` must be SEQ:HASH/],
    [["audit", "--since", "tomorrowish"], /`--since` must be a relative time such as 5m, or a timestamp/],
    [["audit", "-n", "many"], /`--lines` must be a whole number/],
  ];
  for (const [args, expected] of cases) {
    const { stderr, code } = await box.run(args);
    assert.match(stderr, expected);
    assert.equal(code, 125);
  }
});
