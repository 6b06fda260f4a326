import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { newId } from "../../../src/core/id.ts";
import { openDatabase } from "../../../src/storage/database.ts";
import { type NewSession, type SessionEnd, SessionStore } from "../../../src/storage/sessions.ts";

const folder = mkdtempSync(join(tmpdir(), "sallyport-store-"));
const database = openDatabase(join(folder, "sallyport.db"));
const store = new SessionStore(database);
after(() => {
  database.close();
  rmSync(folder, { recursive: true });
});

function session(rest: Partial<NewSession> = {}): NewSession {
  const id = rest.id ?? newId();
  return {
    id,
    name: id,
    agent: "default",
    command: "true",
    args: null,
    cwd: "/",
    env_names: "[]",
    background: 0,
    capture: "apart",
    intent: null,
    log_file: null,
    timeout_ms: 0,
    keeper_pid: 1,
    created_ms: Date.now(),
    sandbox: null,
    warnings: "[]",
    limits: null,
    ...rest,
  };
}

const ENDED: SessionEnd = {
  status: "completed",
  endedMs: 5,
  lingering: false,
  bytes: 7,
  record: null,
  warnings: "[]",
  hints: "[]",
  error: null,
};

const RUNNING = { status: "running", lingering: false } as const;

test("a session ends once, even if several callers report it", () => {
  const row = session();
  assert.ok(store.insert(row));
  const other = new SessionStore(openDatabase(join(folder, "sallyport.db")));
  assert.equal(store.end(row.id, ENDED, RUNNING), true);
  assert.equal(other.end(row.id, { ...ENDED, status: "lost" }, RUNNING), false);
  assert.equal(store.end(row.id, ENDED, RUNNING), false);
  assert.equal(other.get(row.id)?.status, "completed");
});

test("a lingering session ends twice: with its main process and with its last descendant", () => {
  const row = session();
  store.insert(row);
  assert.ok(store.end(row.id, { ...ENDED, lingering: true }, RUNNING));
  assert.ok(store.live().some(({ id }) => id === row.id));
  assert.equal(store.isFinished(row.id), false);
  assert.equal(store.delete(row.id), false);
  assert.ok(store.end(row.id, ENDED, { status: "completed", lingering: true }));
  assert.equal(store.isFinished(row.id), true);
  assert.equal(store.delete(row.id), true);
  assert.equal(store.delete(row.id), false);
});

test("a running session cannot be deleted", () => {
  const row = session();
  store.insert(row);
  assert.equal(store.delete(row.id), false);
  assert.equal(store.get(row.id)?.status, "running");
});

test("a name can be used only once, and a duplicate ID is an error", () => {
  const row = session({ name: "one-of-a-kind" });
  assert.equal(store.insert(row), true);
  assert.equal(store.insert(session({ name: "one-of-a-kind" })), false);
  assert.throws(() => store.insert({ ...row, name: "another" }), { name: "SallyportError" });
});

test("a prefix finds only IDs that start with it", () => {
  for (const id of ["aaaaaaa1-0000", "aaaaaaa1-00ff", "aaaaaaa2-0000"]) store.insert(session({ id, name: id }));
  const found = (prefix: string) => store.withPrefix(prefix).map(({ id }) => id);
  assert.deepEqual(found("aaaaaaa1-00f"), ["aaaaaaa1-00ff"]);
  assert.deepEqual(found("aaaaaaa1"), ["aaaaaaa1-0000", "aaaaaaa1-00ff"]);
  assert.deepEqual(found("aaaaaaa1-"), ["aaaaaaa1-0000", "aaaaaaa1-00ff"]);
  assert.deepEqual(found("aaaaaaa3"), []);
});

test("lists and counts sessions by status and agent, newest first", () => {
  for (let i = 0; i < 60; i++) {
    const row = session({ agent: "lister" });
    store.insert(row);
    if (i % 2) store.end(row.id, { ...ENDED, status: i % 4 === 1 ? "killed" : "failed" }, RUNNING);
  }
  const all = store.list({ agent: "lister", limit: 100 }).map(({ id }) => id);
  assert.deepEqual(all, all.toSorted().reverse());
  assert.equal(store.list({ agent: "lister" }).length, 50);
  assert.equal(store.count({ agent: "lister" }), 60);
  assert.equal(store.count({ agent: "lister", status: "killed" }), 15);
  assert.equal(store.list({ agent: "lister", status: ["killed", "failed"] }).length, 30);
  assert.deepEqual(store.list({ agent: "nobody" }), []);
});

test("any text is returned as it was stored", () => {
  const command = `'; DROP TABLE sessions; -- "\n\t€😀 \u2028 %_ ${"x".repeat(100_000)}`;
  const row = session({ command, intent: command });
  store.insert(row);
  assert.equal(store.get(row.id)?.command, command);
  assert.equal(store.get(row.id)?.intent, command);
});

test("processes that open a new database at the same time all find it complete", async () => {
  const path = join(folder, "fresh.db");
  const module = new URL("../../../src/storage/database.ts", import.meta.url).href;
  const script = `const { openDatabase } = await import(${JSON.stringify(module)});
    const d = openDatabase(${JSON.stringify(path)});
    d.exec("PRAGMA busy_timeout = 10000");
    d.prepare("SELECT count(*) FROM sessions").get(); d.close();`;
  const codes = await Promise.all(
    Array.from({ length: 8 }, async () => {
      const child = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: "inherit" });
      return (await once(child, "exit"))[0] as number;
    }),
  );
  assert.deepEqual(codes, Array(8).fill(0));
});
