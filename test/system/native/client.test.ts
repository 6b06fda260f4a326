import assert from "node:assert/strict";
import { execFileSync, fork, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { FUZZ_SECONDS, FUZZ_SEED } from "../../fixtures/fuzz.ts";
import { NATIVE } from "../../fixtures/keeper-build.ts";
import { killAndWait } from "../../fixtures/processes.ts";
import { CLIENT_BUILD, ENTRY } from "../../fixtures/sallyport.ts";
import { seeded } from "../../fixtures/seeded.ts";

const folder = mkdtempSync(join(tmpdir(), "sallyport-client-"));
chmodSync(folder, 0o755); // another user runs the client, too
const reports = mkdtempSync(join(tmpdir(), "sallyport-reports-"));
after(() => {
  for (const each of [folder, reports]) rmSync(each, { recursive: true, force: true });
});

/** A client with the sanitizers that uses the resident gateways of the ordinary one. */
const client = join(folder, "client");
const options = `log_path=${reports}/report:exitcode=66`;
writeFileSync(
  join(folder, "options.c"),
  `const char *__asan_default_options(void) { return "${options}"; }
   const char *__ubsan_default_options(void) { return "${options}:print_stacktrace=1"; }`,
);
const sources = globSync("client/*.c", { cwd: NATIVE }).map((path) => join(NATIVE, path));
execFileSync("cc", [
  ...["-std=c11", "-D_GNU_SOURCE", "-O1", "-g", `-I${NATIVE}`, `-DCLIENT_BUILD="${CLIENT_BUILD}"`],
  ...["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-fno-omit-frame-pointer"],
  ...[...sources, join(folder, "options.c"), "-o", client],
]);
symlinkSync(ENTRY, join(folder, "sallyport.js"));

/** How many inputs are tried by default. */
const ROUNDS = 80;

function assertNoReports(context: string): void {
  const found = readdirSync(reports).map((name) => readFileSync(join(reports, name), "utf8"));
  assert.deepEqual(found, [], context);
}

test("the tests of the client pass with a sanitized one", () => {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  for (const name of ["client", "run"]) {
    const file = fileURLToPath(new URL(`../../integration/cli/${name}.test.ts`, import.meta.url));
    const { status, stdout } = spawnSync(process.execPath, ["--test", file], {
      encoding: "utf8",
      env: { ...env, TEST_CLIENT: client },
    });
    assertNoReports(name);
    assert.equal(status, 0, stdout);
  }
});

/** Messages of a resident gateway with the given session folder, valid except for what is changed afterwards. */
function messages(session: string): Buffer[] {
  const message = (type: number, payload: Buffer | string) => {
    const bytes = Buffer.concat([Buffer.alloc(5), Buffer.from(payload)]);
    bytes.writeUInt32LE(bytes.length - 4, 0);
    bytes[4] = type;
    return bytes;
  };
  return [
    message(1, `${CLIENT_BUILD}\0name\0${"0".repeat(36)}\0`),
    message(3, `\0${session}\0`),
    message(3, `\u0001${session}\0`),
    message(3, `\u0002${session}\0`),
    message(4, "text"),
    message(5, "text"),
    message(6, ""),
    message(8, Buffer.alloc(16, 7)),
    message(7, "\u0003 bytes are missing\0note\n"),
    message(2, ""),
  ];
}

test("messages and logs of any content do not crash the client", async () => {
  const state = join(folder, "state");
  const session = join(state, "session");
  mkdirSync(session, { recursive: true, mode: 0o700 });
  const server = fork(fileURLToPath(new URL("../../fixtures/programs/false-resident.ts", import.meta.url)), [
    join(state, `resident-${CLIENT_BUILD}.sock`),
  ]);
  await once(server, "message");
  const [hello = Buffer.alloc(0), ...others] = messages(session);
  const env = { SALLYPORT_STATE: state, PATH: "/bin/none" };
  const next = seeded(FUZZ_SEED);
  let printed = 0;
  const end = Date.now() + (FUZZ_SECONDS ?? 0) * 1000;
  for (let round = 0; round < ROUNDS || Date.now() < end; round++) {
    const about = `seed ${FUZZ_SEED}, round ${round}`;
    for (const name of ["timeline", "stdout", "stderr", "output"])
      writeFileSync(join(session, name), Buffer.from(Array.from({ length: next(9000) }, () => next(256))));
    const parts = Array.from({ length: 1 + next(8) }, () => others[next(others.length)] as Buffer);
    const bytes = Buffer.concat([hello, ...parts]);
    // Half of the changes are behind the first message, without which the client reads no other.
    for (let change = next(6); change > 0; change--) {
      const from = next(2) * hello.length;
      bytes[from + next(bytes.length - from)] = next(256);
    }
    server.send([...bytes]);
    await once(server, "message");
    const ended = spawnSync(client, ["run", "--", "true"], { cwd: folder, env, input: "text", timeout: 60_000 });
    assert.equal(ended.signal, null, about);
    if (ended.stdout.length > 0) printed++;
    assertNoReports(about);
  }
  assert.ok(printed > ROUNDS / 10, `only ${printed} inputs were read`);
  await killAndWait(server);
});
