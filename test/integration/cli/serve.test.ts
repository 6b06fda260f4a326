import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { after, test } from "node:test";
import { Certificates } from "../../fixtures/certificates.ts";
import { missing } from "../../fixtures/on-path.ts";
import { ENTRY, outcome, Sandbox } from "../../fixtures/sallyport.ts";
import { until } from "../../fixtures/until.ts";

const sandbox = new Sandbox();
after(() => {
  sandbox.remove();
});

interface Started {
  child: ChildProcess;
  url: string;
  link: string | null;
}

async function start(...more: string[]): Promise<Started> {
  const child = sandbox.spawn(["serve", "--listen", "0", "--state", sandbox.state, "--json", ...more]);
  let text = "";
  child.stdout?.on("data", (piece: Buffer) => {
    text += piece;
  });
  await until("the service prints its URL", () => text.includes("\n") || child.exitCode !== null);
  return { child, ...(JSON.parse(text) as { url: string; link: string | null }) };
}

async function stop({ child }: Started): Promise<number | null> {
  child.kill("SIGTERM");
  const [code] = (await once(child, "exit")) as [number | null];
  return code;
}

const post = (url: string, body: object, headers: Record<string, string> = {}) =>
  fetch(url, {
    method: "POST",
    body: JSON.stringify(body),
    headers: { "content-type": "application/json", ...headers },
  });

async function signIn(url: string, link: string): Promise<Record<string, string>> {
  const response = await post(`${url}/v1/sign-in`, { secret: link.split("#")[1] });
  assert.equal(response.status, 200);
  const { key } = (await response.json()) as { key: string };
  return { "x-sallyport-key": key };
}

for (const [args, reason] of [
  [["--listen", "0.0.0.0:0"], /accepts connections from other machines/],
  [["--listen", "[::]:0"], /accepts connections from other machines/],
  [["--listen", "192.168.1.1:0"], /accepts connections from other machines/],
  [["--listen", "example.org:0"], /accepts connections from other machines/],
  [["--listen", "host"], /a port or HOST:PORT/],
  [["--listen", "99999"], /a port or HOST:PORT/],
  [["--tls-cert", "x.pem"], /must be used together/],
  [["--tls-cert", "no.pem", "--tls-key", "no.key"], /cannot read the file given by `--tls-cert`/],
  [["--tools", "nonsense"], /must be a list of/],
  [["more"], /unexpected argument `more`/],
] as const) {
  test(`rejects serve ${args.join(" ")}`, async () => {
    const { code, stderr } = await sandbox.run(["serve", ...args]);
    assert.equal(code, 125);
    assert.match(stderr, reason);
  });
}

test("the printed link signs in, and the sign-in survives a restart of the service", async () => {
  const first = await start();
  assert.match(first.link ?? "", /^http:\/\/127\.0\.0\.1:\d+\/sign-in#[\w-]{43}$/);
  const page = await signIn(first.url, first.link ?? "");
  assert.equal((await fetch(`${first.url}/v1/me`, { headers: page })).status, 200);
  const taken = await sandbox.run(["serve", "--listen", new URL(first.url).port, "--state", sandbox.state]);
  assert.equal(taken.code, 125);
  assert.match(taken.stderr, /Cannot listen on 127\.0\.0\.1:\d+.*\n.*--listen/s);
  assert.equal(await stop(first), 0);
  const second = await start("--no-link");
  assert.equal(second.link, null);
  const me = await fetch(`${second.url}/v1/me`, { headers: page });
  assert.equal(((await me.json()) as { role: string }).role, "operator");
  const { stdout } = await sandbox.run(["token", "link", second.url, "--state", sandbox.state]);
  await signIn(second.url, stdout.trim());
  assert.equal(await stop(second), 0);
});

for (const [where, preload] of [
  ["as a systemd service", "process.env.SYSTEMD_EXEC_PID = process.pid"],
  [
    "into the journal",
    "const { dev, ino } = process.getBuiltinModule('fs').fstatSync(2); process.env.JOURNAL_STREAM = [dev, ino].join(':')",
  ],
]) {
  test(`prints no sign-in link ${where}, although scripts may use it`, async () => {
    const args = ["serve", "--listen", "0", "--state", sandbox.state, "--json"];
    const child = sandbox.spawn(args, { nodeArgs: ["--import", `data:text/javascript,${preload}`] });
    const said = outcome(child);
    const [text] = (await once(child.stdout as Readable, "data")) as [Buffer];
    const { url, link } = JSON.parse(text.toString());
    assert.equal(link, null);
    child.kill("SIGTERM");
    const { stderr } = await said;
    assert.match(stderr, /^No sign-in link: The output of this service is logged\.$/m);
    assert.ok(stderr.includes(`sallyport token link ${url}`), stderr);
    assert.doesNotMatch(stderr, /sign-in#/);
  });
}

test("stopping the service answers pending requests and ends no commands", async () => {
  const serving = await start();
  const page = { ...(await signIn(serving.url, serving.link ?? "")), origin: serving.url };
  const waiting = post(
    `${serving.url}/v1/sessions`,
    { command: "until test -e go-on; do sleep 0.05; done; echo over" },
    page,
  );
  const running = async () =>
    (await (await fetch(`${serving.url}/v1/sessions?live=true`, { headers: page })).json()) as {
      sessions: { id: string }[];
    };
  let id = "";
  while (id === "") id = (await running()).sessions[0]?.id ?? "";
  assert.equal(await stop(serving), 0);
  const answer = (await (await waiting).json()) as { status: string; id: string };
  assert.deepEqual([answer.status, answer.id], ["running", id]);
  writeFileSync(join(sandbox.folder, "go-on"), "");
  const waited = await sandbox.run(["wait", id, "--state", sandbox.state]);
  assert.equal(waited.code, 0);
  assert.equal((await sandbox.run(["logs", id, "--state", sandbox.state])).stdout, "over\n");
});

test("a command cannot obtain operator access, even through another program", async () => {
  for (const inner of [
    ["serve", "--listen", "0"],
    ["token", "link"],
  ]) {
    const file = join(sandbox.folder, "harmless.mjs");
    writeFileSync(
      file,
      `process.argv.splice(2, 0, ...${JSON.stringify(inner)}); await import(${JSON.stringify(ENTRY)});`,
    );
    const { code, stdout, stderr } = await sandbox.run(["run", "--", process.execPath, file]);
    assert.notEqual(code, 0);
    assert.equal(stdout, "");
    // Where processes of others are hidden, the command cannot see that its parent is a keeper.
    assert.match(stderr, /runs inside a Sallyport session|parent processes .* cannot be determined/, inner.join(" "));
  }
});

test("serves other machines over TLS", { skip: missing("openssl") }, async (context) => {
  const certificates = new Certificates();
  context.after(() => certificates.remove());
  const { cert, key, ca } = certificates.issue("service");
  const wrong = join(certificates.folder, "wrong.pem");
  writeFileSync(wrong, "no certificate");
  const refused = await sandbox.run([
    "serve",
    "--listen",
    "0",
    "--state",
    sandbox.state,
    "--tls-cert",
    wrong,
    "--tls-key",
    key,
  ]);
  assert.equal(refused.code, 125);
  assert.match(refused.stderr, /Cannot use.*PEM/s);
  const serving = await start("--tls-cert", cert, "--tls-key", key, "--listen", "0.0.0.0:0");
  const port = new URL(serving.url).port;
  const asked = request(`https://127.0.0.1:${port}/v1/sign-in`, {
    method: "POST",
    ca: readFileSync(ca),
    headers: { "content-type": "application/json" },
  });
  asked.end(JSON.stringify({ secret: serving.link?.split("#")[1] }));
  const [answer] = await once(asked, "response");
  assert.equal(answer.statusCode, 200);
  answer.resume();
  assert.equal(await stop(serving), 0);
});
