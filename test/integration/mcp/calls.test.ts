import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { after, test } from "node:test";
import { type Connected, ERAS, type Era, type HttpServer, McpFixture, RawClient } from "../../fixtures/mcp.ts";
import { isRunning } from "../../fixtures/processes.ts";
import { until } from "../../fixtures/until.ts";

const fixture = new McpFixture();
after(() => fixture.close());

type Structured = Record<string, unknown>;
const WAYS = ["stdio", "HTTP"] as const;
type Way = (typeof WAYS)[number];

const servers = new Map<string, Promise<HttpServer>>();
let token: Promise<string> | null = null;

async function connect(way: Way, era: Era, ...more: string[]): Promise<Connected> {
  const args = ["--tools", "bash,process", ...more];
  if (way === "stdio") return fixture.stdio(args, { era });
  token ??= fixture.token("default");
  const server = servers.get(args.join(" ")) ?? fixture.http(args);
  servers.set(args.join(" "), server);
  return fixture.httpClient((await server).url, await token, { era });
}

let files = 0;
/** Returns a command that writes its own PID and that of a detached child to a file, then waits. */
function lasting(): { command: string; pids: () => number[] } {
  const file = fixture.fixture.path(`pids-${files++}`);
  const pids = () => (existsSync(file) ? readFileSync(file, "utf8").trim().split("\n").map(Number) : []);
  return { command: `setsid sleep 600 & echo "$!" > ${file}; echo "$$" >> ${file}; sleep 600`, pids };
}

const started = (pids: () => number[]) => until("the command has started", () => pids().length === 2);
const gone = (pids: () => number[]) => until("all processes of the tree have exited", () => !pids().some(isRunning));

for (const way of WAYS) {
  for (const era of ERAS) {
    test(`reports progress while a command runs (${way}, ${era})`, async () => {
      const { client, close } = await connect(way, era);
      const file = fixture.fixture.path(`go-${way}-${era}`);
      const command = `echo compiling; until [ -e ${file} ]; do sleep 0.05; done; echo done`;
      const told: { progress: number; message?: string | undefined }[] = [];
      const calling = client.callTool(
        { name: "Bash", arguments: { command, description: "x" } },
        { onprogress: (progress) => told.push(progress) },
      );
      await until(
        "two notifications have arrived",
        () => told.filter(({ message }) => message?.includes("compiling")).length > 1,
      );
      await client.callTool({ name: "Bash", arguments: { command: `touch ${file}`, description: "x" } });
      const { structuredContent } = await calling;
      assert.equal((structuredContent as Structured).output, "compiling\ndone\n");
      const [first, second] = told;
      assert.ok(first && second && first.progress < second.progress);
      assert.match(told.at(-1)?.message ?? "", /^\d.*s: (compiling|done)$/);
      await close();
    });

    test(`a client that asked for log messages gets them for operations with the permission notify (${way}, ${era})`, async () => {
      const { client, close } = await connect(way, era);
      const told: { level: string; logger?: string | undefined; data: unknown }[] = [];
      client.setNotificationHandler("notifications/message", ({ params }) => void told.push(params));
      let level: "info" | "warning" | null = null;
      const setLevel = async (to: "info" | "warning") => {
        level = to;
        if (era === "2025") await client.setLoggingLevel(to);
      };
      const call = async (name: string, args: Structured) => {
        const _meta = era === "2026" && level ? { _meta: { "io.modelcontextprotocol/logLevel": level } } : {};
        return (await client.callTool({ name, arguments: args, ..._meta })).structuredContent as Structured;
      };
      const use = async () => {
        const command = "TOKEN=ghp_0123456789abcdefghijABCDEFGHIJ012345 sleep 600";
        const { process_id } = await call("process.run", { command, background: true });
        await call("process.monitor", { process_id });
        await call("process.kill", { process_id });
        await call("Bash", { command: "true", description: "x" });
        return process_id;
      };
      await use();
      await setLevel("warning");
      await use();
      assert.deepEqual(told, []);
      await setLevel("info");
      const session_id = await use();
      assert.deepEqual(
        told.map(({ data }) => (data as Structured).operation),
        ["run", "kill"],
      );
      for (const { level: as, logger, data } of told) {
        const { operation, command, ...rest } = data as Structured;
        assert.deepEqual([as, logger, rest], ["notice", "sallyport", { tool: `process.${operation}`, session_id }]);
        assert.match(String(command), /^TOKEN=.* sleep 600$/);
        assert.doesNotMatch(String(command), /ghp_/);
      }
      await close();
    });

    test(`cancelling a call stops the command and all its processes (${way}, ${era})`, async () => {
      const { client, close } = await connect(way, era);
      const { command, pids } = lasting();
      const cancel = new AbortController();
      const calling = client.callTool(
        { name: "Bash", arguments: { command, description: "x" } },
        { signal: cancel.signal },
      );
      await started(pids);
      cancel.abort("enough");
      await assert.rejects(calling);
      await gone(pids);
      assert.ok((await client.listTools()).tools.length > 0, "the connection no longer works");
      await close();
    });

    test(`a command that exceeds the time limit continues as a session (${way}, ${era})`, async () => {
      const { client, close } = await connect(way, era, "--answer-within", "300ms");
      const { command, pids } = lasting();
      const call = { name: "Bash", arguments: { command: `echo begun; ${command}`, description: "x", timeout: 600 } };
      const { content, structuredContent, isError } = await client.callTool(call);
      assert.notEqual(isError, true);
      const { status, shell_id, output } = structuredContent as Structured;
      assert.equal(status, "running");
      assert.match(String(output), /^(begun\n)?$/);
      assert.match((content[0] as { text: string }).text, /BashOutput/);
      await started(pids);
      assert.ok(pids().every(isRunning));
      await client.callTool({ name: "KillShell", arguments: { shell_id } });
      await gone(pids);
      await close();
    });
  }

  test(`a disconnect stops the foreground command and keeps background sessions (${way})`, async () => {
    const { client, close } = await connect(way, "2025");
    const foreground = lasting();
    const background = lasting();
    const start = { command: background.command, description: "x", run_in_background: true };
    const { structuredContent } = await client.callTool({ name: "Bash", arguments: start });
    const { shell_id } = structuredContent as { shell_id: string };
    const calling = client.callTool({ name: "Bash", arguments: { command: foreground.command, description: "x" } });
    calling.catch(() => {});
    await started(foreground.pids);
    await started(background.pids);
    await close();
    await gone(foreground.pids);
    assert.ok(background.pids().every(isRunning));
    await fixture.run("kill", shell_id);
    await gone(background.pids);
  });
}

test("a disconnect of a 2026-era HTTP client stops its foreground command", async () => {
  const { client, close } = await connect("HTTP", "2026");
  const { command, pids } = lasting();
  client.callTool({ name: "Bash", arguments: { command, description: "x" } }).catch(() => {});
  await started(pids);
  await close();
  await gone(pids);
});

test("a disconnect stops background sessions with `--on-disconnect end`", async () => {
  for (const way of WAYS) {
    const { client, close } = await connect(way, "2025", "--on-disconnect", "end");
    const { command, pids } = lasting();
    await client.callTool({ name: "Bash", arguments: { command, description: "x", run_in_background: true } });
    await started(pids);
    if (way === "HTTP") await (client.transport as unknown as { terminateSession(): Promise<void> }).terminateSession();
    await close();
    await gone(pids);
  }
});

test("a server that is asked to stop ends its foreground commands and exits", async () => {
  const server = await fixture.http();
  const { client } = await fixture.httpClient(server.url, await fixture.token("default", "stopper"));
  const { command, pids } = lasting();
  client.callTool({ name: "Bash", arguments: { command, description: "x" } }).catch(() => {});
  await started(pids);
  assert.equal(await server.stop(), 0);
  await gone(pids);

  const raw = new RawClient(fixture.spawn(["mcp"]));
  await raw.initialize();
  const other = lasting();
  raw.request("tools/call", { name: "Bash", arguments: { command: other.command, description: "x" } });
  await started(other.pids);
  raw.child.kill("SIGTERM");
  await until("the server has exited", () => raw.child.exitCode !== null);
  assert.equal(raw.child.exitCode, 0);
  await gone(other.pids);
});

test("a call that is cancelled before it starts neither runs nor gets a response", async () => {
  const raw = new RawClient(fixture.spawn(["mcp"]));
  await raw.initialize();
  const file = fixture.fixture.path("never");
  // Written at once, so that the cancellation arrives before the call can start.
  const params = { name: "Bash", arguments: { command: `touch ${file}`, description: "x" } };
  const call = { jsonrpc: "2.0", id: "early", method: "tools/call", params };
  const cancelled = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "early" } };
  raw.send(`${JSON.stringify(call)}\n${JSON.stringify(cancelled)}`);
  await raw.request("tools/call", { name: "Bash", arguments: { command: "true", description: "x" } });
  assert.ok(!existsSync(file));
  assert.ok(!raw.received.some(({ id }) => id === "early"));
  assert.equal(await raw.leave(), 0);
});

for (const way of WAYS) {
  test(`200 concurrent calls on one connection all complete (${way})`, async () => {
    // Uses the default limits, except for the number of starts per minute.
    fixture.configure({ limits: { startsPerMinute: 100_000 } });
    const { client, close } = await connect(way, "2025");
    const calls = Array.from({ length: 200 }, (_, index) =>
      client.callTool(
        { name: "Bash", arguments: { command: `echo ${index}`, description: "x" } },
        { timeout: 120_000 },
      ),
    );
    const results = (await Promise.all(calls)).map(({ structuredContent }) => structuredContent as Structured);
    const refused = results.find(({ error }) => error !== undefined);
    assert.equal(refused, undefined, JSON.stringify(refused));
    assert.deepEqual(
      results.map(({ output }) => output),
      calls.map((_, index) => `${index}\n`),
    );
    await close();
    fixture.configure({});
  });
}
