import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { freePort } from "../../fixtures/free-port.ts";
import { killAndWait, stopZygotes } from "../../fixtures/processes.ts";
import { Sandbox } from "../../fixtures/sallyport.ts";
import { until } from "../../fixtures/until.ts";

const sandbox = new Sandbox();
const started: ChildProcess[] = [];
after(async () => {
  for (const child of started) await killAndWait(child, "SIGKILL");
  await stopZygotes(sandbox.state);
  sandbox.remove();
});

/** Does what systemd does with the unit: starts the main process, and waits for the command in ExecStartPost. */
async function start(port: number): Promise<ChildProcess> {
  const child = sandbox.spawn(["serve", "--listen", String(port)]);
  started.push(child);
  const ready = await sandbox.run(["service", "ready", `http://127.0.0.1:${port}`, "--wait", "60s"]);
  assert.equal(ready.code, 0, ready.stderr);
  return child;
}

/** Does what systemd does with KillMode=process: signals only the main process. */
async function stop(child: ChildProcess): Promise<void> {
  await killAndWait(child, "SIGTERM");
  assert.equal(child.exitCode, 0);
}

test("commands outlive a restart of the service, with all their output and one callback each", async () => {
  const port = await freePort();
  const header = join(sandbox.folder, "header");
  await sandbox.run(["token", "create", "ops", "--role", "operator", "--header-file", header]);
  const authorization = readFileSync(header, "utf8").trim().replace("Authorization: ", "");
  const first = await start(port);
  const begin = async (name: string) => {
    const command = `echo ${name} began; until test -e ${name}; do sleep 0.05; done; echo ${name} ended; touch ${name}-done; exit 3`;
    const response = await fetch(`http://127.0.0.1:${port}/v1/sessions`, {
      method: "POST",
      headers: { authorization, "content-type": "application/json" },
      body: JSON.stringify({ command, background: true }),
    });
    const { id, status } = (await response.json()) as { id: string; status: string };
    assert.equal(status, "running");
    return id;
  };
  const finish = async (name: string) => {
    writeFileSync(join(sandbox.folder, name), "");
    await until(`${name} has ended`, () => existsSync(join(sandbox.folder, `${name}-done`)));
  };
  const [during, later] = [await begin("during"), await begin("later")];

  await stop(first);
  const down = await sandbox.run(["service", "ready", `http://127.0.0.1:${port}`]);
  assert.equal(down.code, 1);
  assert.match(down.stderr, /not ready: .*ECONNREFUSED/);
  // Systemd restarts a service that has ended only when its ExecStartPost has ended too.
  const ended = { MAINPID: String(first.pid) };
  const given = await sandbox.run(["service", "ready", `http://127.0.0.1:${port}`, "--wait", "1h"], { env: ended });
  assert.match(given.stderr, /not ready: the service has ended/);
  await finish("during");
  const second = await start(port);
  await finish("later");

  for (const [id, name] of [
    [during, "during"],
    [later, "later"],
  ] as const) {
    const { code } = await sandbox.run(["wait", id]);
    assert.equal(code, 3);
    assert.equal((await sandbox.run(["logs", id])).stdout, `${name} began\n${name} ended\n`);
  }
  const callbacks = async () => {
    const items = JSON.parse((await sandbox.run(["work", "--json"])).stdout || "[]");
    return (Array.isArray(items) ? items : [items]).map(({ payload }) => payload.session_id).sort();
  };
  await until("both callbacks are queued", async () => (await callbacks()).length >= 2);
  await stop(second);
  const third = await start(port);
  assert.deepEqual(await callbacks(), [during, later].sort());
  await stop(third);
});
