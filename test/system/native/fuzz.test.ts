import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { encodeKill, encodeRun, encodeWrite, TYPE } from "../../../src/executor/native/frames.ts";
import { socketPath } from "../../../src/executor/native/zygote.ts";
import { corpus, FUZZ_SECONDS, FUZZ_SEED as seed } from "../../fixtures/fuzz.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";
import { buildHarness } from "../../fixtures/keeper-build.ts";
import { exists } from "../../fixtures/processes.ts";
import { RawKeeper, rawSpec } from "../../fixtures/raw-keeper.ts";
import { seeded } from "../../fixtures/seeded.ts";
import { pause, until } from "../../fixtures/until.ts";

const SECONDS = FUZZ_SECONDS ?? 5;
const REQUESTS = new URL("corpus/requests.txt", import.meta.url);
const saved = corpus(REQUESTS).map(({ line }) => Buffer.from(line, "hex"));

test(`parses mutated requests for ${SECONDS} s without an error`, (t) => {
  const folder = mkdtempSync(join(tmpdir(), "sallyport-fuzz-"));
  const program = join(folder, "fuzz-request");
  const sanitizers = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
  buildHarness(fileURLToPath(new URL("fuzz-request.c", import.meta.url)), program, sanitizers);
  const args = [String(seed), String(SECONDS), fileURLToPath(REQUESTS)];
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: "utf8" });
  rmSync(folder, { recursive: true });
  assert.equal(status, 0, `seed ${seed}: ${stderr}`);
  const [parsed = 0, refused = 0] = stdout.split(" ").map(Number);
  t.diagnostic(`seed ${seed}: ${parsed} requests parsed, ${refused} rejected`);
  assert.ok(parsed > 1000 && refused > 1000, "both valid and invalid requests must occur");
});

type Next = (limit: number) => number;

function noise(next: Next, length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => next(256)));
}

/** Returns a frame that is valid, truncated, too long, mutated or random. */
function garbage(next: Next): Buffer {
  const valid = [
    encodeRun(rawSpec(["true"])),
    encodeWrite(noise(next, next(500))),
    encodeKill({ signal: 64, scope: "main", ends: false, graceMs: null }),
  ];
  const bytes = Buffer.from(valid[next(valid.length)] as Buffer);
  switch (next(6)) {
    case 0:
      return noise(next, 1 + next(2000));
    case 1:
      return bytes.subarray(0, next(bytes.length));
    case 2:
      bytes.writeUInt32LE(next(2 ** 32), 0);
      return bytes;
    case 3:
      bytes.writeUInt32LE(0, 0);
      return bytes;
    case 4:
      // The payload of a kill is not mutated, because a valid one would end the command.
      if (bytes.length > 20) for (let i = 0; i < 4; i++) bytes[5 + next(bytes.length - 5)] = next(256);
      return bytes;
    default:
      bytes[4] = [0, 2, 9, 77, 255][next(5)] as number;
      return Buffer.concat([bytes, bytes]);
  }
}

/** Returns a saved request as a run frame: length, type, payload. */
function framed(payload: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32LE(payload.length + 1, 0);
  head[4] = TYPE.run;
  return Buffer.concat([head, payload]);
}

async function pester(path: string, times: number, next: Next): Promise<void> {
  for (let i = 0; i < times; i++) {
    const keeper = new RawKeeper(path);
    const known = saved[i];
    if (known) keeper.socket.write(framed(known));
    for (let part = 0; part < 3; part++) keeper.socket.write(garbage(next));
    if (i % 4 === 0) await pause(1);
    keeper.socket.end();
    if (i % 8 === 0) await keeper.close();
    else setTimeout(() => void keeper.close(), 20);
  }
}

test("a running keeper and its zygote survive any input", async (t) => {
  const fixture = new GatewayFixture();
  t.after(() => fixture.close());
  const gateway = await fixture.open();
  const command = "trap : RTMAX; echo up; while :; do read -t 0.1 line; done";
  const session = await gateway.start({ command, stdin: "open" });
  const keeper = session.usage().processes[0]?.ppid ?? 0;
  await until("the command is running", async () => (await session.logs()).text === "up\n");
  const places = [join(fixture.sessionFolder(session.id), "ctl"), socketPath(fixture.state)];
  await Promise.all(places.map((path, index) => pester(path, 400, seeded(seed + index))));
  t.diagnostic(`seed ${seed}`);
  // The random input may contain a valid signal, deadline or kill. The session has then ended, but is not lost.
  if (session.info().status === "running") {
    assert.ok(exists(keeper) || session.info().status !== "running");
    await session.kill({ graceMs: 0 }).catch(() => {}); // a deadline may have just ended the session
  }
  assert.match(session.info().status, /^(killed|completed|timed_out)$/);
  const results = await Promise.all(Array.from({ length: 10 }, () => gateway.run({ command: "echo fine" })));
  assert.ok(results.every(({ stdout }) => stdout === "fine\n"));
});

test("a client that never reads is disconnected and does not block others", async (t) => {
  const fixture = new GatewayFixture();
  t.after(() => fixture.close());
  const gateway = await fixture.open();
  const session = await gateway.start({ command: "for i in $(seq 2000); do echo $i; done; sleep 0.5; echo end" });
  const deaf = new RawKeeper(join(fixture.sessionFolder(session.id), "ctl"));
  deaf.socket.pause();
  const watch = Buffer.from([1, 0, 0, 0, 6]);
  for (let i = 0; i < 20_000; i++) deaf.socket.write(watch);
  assert.equal((await session.wait()).status, "completed");
  assert.equal((await session.logs({ tail: 1 })).text, "end\n");
  await deaf.close();
});
