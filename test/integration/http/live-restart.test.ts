import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { after, test } from "node:test";
import { openDatabase } from "../../../src/storage/database.ts";
import { Tokens } from "../../../src/storage/tokens.ts";
import { EventClient } from "../../fixtures/event-client.ts";
import { freePort } from "../../fixtures/free-port.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";
import { ENTRY } from "../../fixtures/installed.ts";
import { TerminalClient } from "../../fixtures/terminal-client.ts";
import { until } from "../../fixtures/until.ts";

const fixture = new GatewayFixture();
const gateway = await fixture.open();
const port = await freePort();
const url = `http://127.0.0.1:${port}`;
const database = openDatabase(`${fixture.state}/sallyport.db`);
const { secret } = new Tokens(database).create({ name: "olga", role: "operator", agent: "", createdBy: "tester" });
database.close();
const headers = { authorization: `Bearer ${secret}` };
let serving: ChildProcess | null = null;

after(async () => {
  await stop("SIGKILL");
  await fixture.close();
});

async function serve(): Promise<void> {
  const args = [ENTRY, "serve", "--json", "--no-link", "--listen", String(port), "--workspace", fixture.workspace];
  serving = spawn(process.execPath, args, { env: fixture.env, stdio: ["ignore", "pipe", "inherit"] });
  const served = once(createInterface({ input: serving.stdout as NodeJS.ReadableStream }), "line");
  const left = once(serving, "exit").then(([code]) =>
    assert.equal(code, null, "the service exited before it was ready"),
  );
  await Promise.race([served, left]);
}

async function stop(signal: NodeJS.Signals): Promise<number | null> {
  if (!serving || serving.exitCode !== null || serving.signalCode !== null) return null;
  const left = once(serving, "exit");
  serving.kill(signal);
  const [code] = await left;
  return code;
}

test("a service that is killed or stopped under load neither loses nor repeats an event", async (context) => {
  await serve();
  const client = new EventClient(() => `${url}/v1/events`, headers, { reconnects: true });
  context.after(() => client.close());
  await client.until("the stream is ready", () => client.of("ready").length > 0);
  // The commands start and end before, while and after the service is killed.
  const names = Array.from({ length: 500 }, (_, n) => `load-${n}`);
  let begun = 0;
  const runSome = async (until: number) => {
    while (begun < until) await gateway.run({ command: "true", name: names[begun++] ?? "" });
  };
  const load = (until: number) => Promise.all(Array.from({ length: 8 }, () => runSome(until)));
  for (const [index, signal] of (["SIGKILL", "SIGTERM", "SIGKILL"] as const).entries()) {
    const running = load((index + 1) * 160);
    await until("some commands have run", () => begun > index * 160 + 80);
    const code = await stop(signal);
    if (signal === "SIGTERM") assert.equal(code, 0);
    await running;
    await serve();
    await client.until("the client has reconnected", () => client.of("ready").length > index + 1);
  }
  await load(500);
  const ended = () => client.of("session").filter(({ data }) => data.status === "completed");
  await client.until("every end is reported", () => ended().length >= 500);
  assert.deepEqual(
    ended()
      .map(({ data }) => data.name)
      .toSorted(),
    names.toSorted(),
    "an end was not reported exactly once",
  );
  const started = client.of("session").filter(({ data }) => data.status === "running");
  assert.equal(new Set(started.map(({ data }) => data.id)).size, started.length, "a start was reported twice");
  assert.deepEqual(client.of("reset"), []);
});

test("a log stream resumes at the exact byte after a restart, and commands keep running", async (context) => {
  const command = "for n in $(seq 1 400); do echo out $n; echo err $n >&2; sleep 0.005; done";
  const session = await gateway.start({ command });
  const client = new EventClient(() => `${url}/v1/sessions/${session.id}/follow`, headers, { reconnects: true });
  context.after(() => client.close());
  for (let round = 1; round <= 3; round++) {
    await client.until(
      "more output has arrived",
      () => client.of("chunk").length > round * 10 || session.info().status !== "running",
    );
    await stop(round === 2 ? "SIGTERM" : "SIGKILL");
    await serve();
  }
  await client.until("the end is reported", () => client.of("end").length > 0);
  assert.equal(client.of("end")[0]?.data.info.exitCode, 0);
  for (const [stream, word] of [
    ["stdout", "out"],
    ["stderr", "err"],
  ]) {
    const text = client
      .of("chunk")
      .filter(({ data }) => data.stream === stream)
      .map(({ data }) => data.text)
      .join("");
    assert.equal(text, Array.from({ length: 400 }, (_, n) => `${word} ${n + 1}\n`).join(""), stream);
  }
  await client.until("the response is 204, so that a browser does not reconnect", () => client.status === 204);
});

test("a terminal client learns of a restart and reconnects without loss", async () => {
  const session = await gateway.start({ command: "echo before; read line; echo $line; sleep 60", pty: true });
  const terminal = `${url}/v1/sessions/${session.id}/terminal`;
  const client = new TerminalClient(terminal, headers);
  await client.shows("before");
  await stop("SIGTERM");
  await until("the client is notified", () => client.closed === 1012);
  await serve();
  const again = new TerminalClient(terminal, headers);
  await again.shows("before");
  again.type("typed after the restart\r");
  await again.shows("typed after the restart");
  await again.close();
  await session.kill();
  assert.equal(await stop("SIGTERM"), 0);
});
