import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type * as z from "zod";
import { operations } from "../../../src/http/routes/index.ts";
import { TestService } from "../../fixtures/service.ts";
import { until } from "../../fixtures/until.ts";

let service: TestService;
before(async () => {
  service = await TestService.start();
});
after(() => service.close());

const answers = new Map(operations({ operations: [] }).map((each) => [each.id, each.response]));

interface Info {
  id: string;
  name: string;
  status: string;
  agent: string;
  exitCode: number | null;
}

/** Sends a request and validates the response against the OpenAPI document. */
async function ask<T = Info>(id: string, path: string, init: Parameters<TestService["ask"]>[2] = {}): Promise<T> {
  const response = await service.ask("operator", path, init);
  const text = await response.text();
  assert.ok(response.ok, `${path}: ${response.status} ${text}`);
  const shape = answers.get(id) as z.ZodType;
  const { error } = shape.safeParse(JSON.parse(text));
  assert.equal(error, undefined, `${id}: ${error?.message}`);
  return JSON.parse(text) as T;
}

const start = (command: string, more: object = {}) =>
  ask("run", "/v1/sessions", { body: { command, background: true, ...more } });

async function remove(id: string): Promise<void> {
  await service.ask("operator", `/v1/sessions/${id}?force=true`, { method: "DELETE" });
}

test("a foreground command returns its output", async () => {
  const result = await ask<Info & { stdout: string; stderr: string }>("run", "/v1/sessions", {
    body: { command: "echo out; echo err >&2; exit 3" },
  });
  assert.deepEqual([result.status, result.exitCode, result.stdout, result.stderr], ["completed", 3, "out\n", "err\n"]);
  const details = await ask<Info & { verdict: { verdict: string }; approval: unknown }>(
    "getSession",
    `/v1/sessions/${result.id}`,
  );
  assert.equal(details.verdict.verdict, "allow");
  assert.equal(details.approval, null);
});

test("a blocked command returns a 2xx response with status `blocked`", async () => {
  const result = await ask<Info & { error: { type: string } }>("run", "/v1/sessions", {
    body: { command: "shutdown now" },
  });
  assert.deepEqual([result.status, result.error.type], ["blocked", "CommandBlocked"]);
});

test("a command that exceeds `yieldMs` continues as a session", async () => {
  const result = await ask("run", "/v1/sessions", { body: { command: "sleep 60", yieldMs: 50 } });
  assert.equal(result.status, "running");
  const ended = await ask("signal", `/v1/sessions/${result.id}/signal`, { body: { reason: "enough" } });
  assert.equal(ended.status, "killed");
});

test("a command is stopped when its client disconnects", async () => {
  const leave = new AbortController();
  const waiting = service.ask("operator", "/v1/sessions", { body: { command: "sleep 61" }, signal: leave.signal });
  const running = () => service.gateway.list({ live: true, text: "sleep 61" });
  await until("the command runs", () => running().length === 1);
  const [{ id } = { id: "" }] = running();
  leave.abort();
  await assert.rejects(waiting);
  await until("the command has ended", () => service.gateway.session(id).info().status === "killed");
});

test("session lists are paged and filtered by text, status and agent", async () => {
  const made: string[] = [];
  for (let index = 0; index < 5; index++) {
    const { id } = await ask("run", "/v1/sessions", { body: { command: `echo needle-${index}`, agent: "lister" } });
    made.unshift(id);
  }
  const seen: string[] = [];
  for (let before = ""; ; ) {
    const path = `/v1/sessions?agent=lister&limit=2${before && `&before=${before}`}`;
    const page = await ask<{ sessions: Info[]; next: string | null }>("listSessions", path);
    seen.push(...page.sessions.map(({ id }) => id));
    if (page.next === null) break;
    before = page.next;
  }
  assert.deepEqual(seen, made);
  const found = await ask<{ sessions: Info[] }>("listSessions", "/v1/sessions?q=NEEDLE-3&status=completed,failed");
  assert.equal(found.sessions.length, 1);
  assert.deepEqual((await ask<{ sessions: Info[] }>("listSessions", "/v1/sessions?q=%25")).sessions, []);
  const { agents } = await ask<{ agents: { name: string; total: number }[] }>("listAgents", "/v1/agents");
  assert.equal(agents.find(({ name }) => name === "lister")?.total, 5);
});

test("reads logs by offset, by line and as bytes", async () => {
  const { id } = await start("for i in $(seq 1 1000); do echo line $i; done; printf '\\377\\376'");
  await ask("wait", `/v1/sessions/${id}/wait`, { body: { timeoutMs: 20_000 } });
  type Logs = {
    chunks: { text?: string; base64?: string }[];
    nextOffset: number;
    totalBytes: number;
    totalLines?: number;
  };
  const first = await ask<Logs>("readLogs", `/v1/sessions/${id}/logs?limit=7`);
  assert.deepEqual([first.chunks[0]?.text, first.nextOffset], ["line 1\n", 7]);
  const second = await ask<Logs>("readLogs", `/v1/sessions/${id}/logs?offset=${first.nextOffset}&limit=7`);
  assert.equal(second.chunks[0]?.text, "line 2\n");
  const lines = await ask<Logs>("readLogs", `/v1/sessions/${id}/logs?fromLine=10&toLine=11`);
  assert.equal(lines.chunks.map(({ text }) => text).join(""), "line 10\nline 11\n");
  const end = await ask<Logs>("readLogs", `/v1/sessions/${id}/logs?offset=${first.totalBytes - 2}`);
  assert.equal(end.chunks[0]?.base64, "//4=");
  const raw = await service.ask("operator", `/v1/sessions/${id}/logs/raw`);
  assert.match(raw.headers.get("content-disposition") ?? "", /^attachment; filename="[\w.-]+\.log"$/);
  const bytes = Buffer.from(await raw.arrayBuffer());
  assert.equal(bytes.length, first.totalBytes);
  assert.deepEqual([...bytes.subarray(-2)], [255, 254]);
});

test("searches a log page by page, and rejects a pattern that takes too long", async () => {
  const { id } = await start(
    'for i in $(seq 1 3000); do echo "row $i ä"; done; echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!',
  );
  await ask("wait", `/v1/sessions/${id}/wait`, { body: { timeoutMs: 20_000 } });
  type Found = { matches: { offset: number; text: string }[]; next: number | null };
  const search = (query: string) => ask<Found>("searchLogs", `/v1/sessions/${id}/search?${query}`);
  const { matches, next } = await search("q=ROW%20299&limit=1000");
  assert.deepEqual(
    matches.map(({ text }) => text),
    ["row 299 ä", ...[...Array(10).keys()].map((n) => `row 299${n} ä`)],
  );
  assert.equal(next, null);
  const { chunks } = await ask<{ chunks: { text: string }[] }>(
    "readLogs",
    `/v1/sessions/${id}/logs?offset=${matches[0]?.offset}&limit=10`,
  );
  assert.equal(chunks[0]?.text, "row 299 ä");
  const seen: string[] = [];
  for (let from: number | null = 0; from !== null; ) {
    const page: Found = await search(`q=row%20\\d%2B5%20&regex=true&limit=100&from=${from}`);
    seen.push(...page.matches.map(({ text }) => text));
    from = page.next;
  }
  assert.equal(seen.length, 299);
  assert.equal(new Set(seen).size, 299);
  const evil = await service.ask("operator", `/v1/sessions/${id}/search?q=${encodeURIComponent("(a+)+$")}&regex=true`);
  assert.equal(evil.status, 400);
  assert.match(await evil.text(), /takes too long/);
});

test("refuses input that a shell would run and policy blocks", async () => {
  const shell = await start("bash", { stdin: "open" });
  for (const body of [{ text: "setenforce 0\n" }, { base64: Buffer.from("setenforce 0\n").toString("base64") }]) {
    const response = await service.ask("operator", `/v1/sessions/${shell.id}/input`, { body });
    assert.equal(response.status, 403);
    assert.match(await response.text(), /CommandBlocked/);
  }
  await ask("sendInput", `/v1/sessions/${shell.id}/input`, { body: { text: "setenforce 0" } });
  const end = await service.ask("operator", `/v1/sessions/${shell.id}/input`, { body: { eof: true } });
  assert.equal(end.status, 403);
  await remove(shell.id);
});

test("sends input, keys and pastes, resizes, and reads the screen and the recording", async () => {
  const cat = await start("cat", { stdin: "open" });
  await ask("sendInput", `/v1/sessions/${cat.id}/input`, { body: { text: "one\n" } });
  await ask("sendInput", `/v1/sessions/${cat.id}/input`, { body: { base64: "dHdvCg==", eof: true } });
  const { info } = await ask<{ info: Info }>("wait", `/v1/sessions/${cat.id}/wait`, { body: { timeoutMs: 20_000 } });
  assert.equal(info.exitCode, 0);
  const logs = await ask<{ chunks: { text: string }[] }>("readLogs", `/v1/sessions/${cat.id}/logs`);
  assert.equal(logs.chunks.map(({ text }) => text).join(""), "one\ntwo\n");
  const late = await service.ask("operator", `/v1/sessions/${cat.id}/input`, { body: { text: "x" } });
  assert.equal(late.status, 409);

  const tty = await start('read a; read b; echo "<$a|$b>"; stty size; sleep 60', { pty: true });
  await ask("wait", `/v1/sessions/${tty.id}/wait`, { body: { timeoutMs: 20_000, input: true } });
  await ask("resize", `/v1/sessions/${tty.id}/resize`, { body: { columns: 90, rows: 21 } });
  await ask("sendKeys", `/v1/sessions/${tty.id}/keys`, { body: { keys: ["h", "i", "Enter"] } });
  await ask("paste", `/v1/sessions/${tty.id}/paste`, { body: { text: "there", submit: true } });
  const found = await ask<{ reason: string }>("wait", `/v1/sessions/${tty.id}/wait`, {
    body: { timeoutMs: 20_000, pattern: "21 90" },
  });
  assert.equal(found.reason, "pattern");
  const screen = await ask<{ lines: string[]; rows: number }>(
    "screen",
    `/v1/sessions/${tty.id}/screen?scrollback=true`,
  );
  assert.equal(screen.rows, 21);
  assert.match(screen.lines.join("\n"), /<hi\|there>\n21 90/);
  const picture = await service.ask("operator", `/v1/sessions/${tty.id}/picture?format=svg`);
  assert.equal(picture.headers.get("content-type"), "image/svg+xml");
  assert.match(await picture.text(), /^<svg .*21 90/s);
  const recording = await service.ask("operator", `/v1/sessions/${tty.id}/recording`);
  const [header = "", ...rest] = (await recording.text()).trimEnd().split("\n");
  assert.equal((JSON.parse(header) as { version: number }).version, 2);
  assert.ok(rest.length > 0 && rest.every((line) => Array.isArray(JSON.parse(line))));
  const { processes } = await ask<{ processes: unknown[] }>("usage", `/v1/sessions/${tty.id}/usage`);
  assert.ok(processes.length > 0);
  const extended = await ask<{ timeoutMs: number }>("extend", `/v1/sessions/${tty.id}/extend`, {
    body: { timeoutMs: 3_600_000 },
  });
  assert.ok(extended.timeoutMs >= 3_600_000);
  const still = await service.ask("operator", `/v1/sessions/${tty.id}`, { method: "DELETE" });
  assert.equal(still.status, 409);
  await remove(tty.id);
  assert.equal((await service.ask("operator", `/v1/sessions/${tty.id}`)).status, 404);
});

test("returns the verdict on a command, for the current mode and for every mode", async () => {
  const verdict = await ask<{ verdict: string; modes: { security: string; ask: string; verdict: string }[] }>(
    "check",
    "/v1/check",
    {
      body: { command: "npm test", modes: true },
    },
  );
  assert.equal(verdict.modes.length, 9);
  assert.ok(verdict.modes.filter(({ security }) => security === "deny").every((each) => each.verdict === "deny"));
  const machine = await ask<{ findings: unknown[] }>("machine", "/v1/machine");
  assert.ok(machine.findings.length > 5);
  await ask("listWork", "/v1/work?state=all");
});
