import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { after, afterEach, test } from "node:test";
import { type ErrorType, SallyportError } from "../../../src/core/error.ts";
import type { RunRequest } from "../../../src/core/request.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";

const fixture = new GatewayFixture();
const gateway = await fixture.open();
after(() => fixture.close());

writeFileSync(fixture.path("plain-file"), "echo not executable\n", { mode: 0o600 });
writeFileSync(fixture.path("bad-interpreter"), "#!/no/such/interpreter\n", { mode: 0o755 });
writeFileSync(fixture.path("no-interpreter"), "echo run by sh: $1\n", { mode: 0o755 });
writeFileSync(fixture.path("not-a-program"), Buffer.concat([Buffer.from("\x7fELF"), Buffer.alloc(60, 1)]), {
  mode: 0o755,
});
mkdirSync(fixture.path("folder"));
execFileSync("mkfifo", [fixture.path("fifo")]);
symlinkSync("nowhere", fixture.path("link"));
symlinkSync("loop", fixture.path("loop"));

afterEach(async () => {
  assert.equal((await gateway.run({ command: "echo fine" })).stdout, "fine\n", "the gateway did not work afterwards");
});

function assertTeaches(
  error: { type: string; message: string; recovery: readonly { action: string; hint: string }[] } | null,
) {
  assert.ok(error);
  assert.ok(error.message.length > 10, error.message);
  assert.ok(error.recovery.length > 0, `no recovery hint for: ${error.message}`);
  for (const { action, hint } of error.recovery) {
    assert.match(action, /^[a-z_]+$/);
    assert.ok(hint.length > 5);
  }
}

const CANNOT_START: [string, RunRequest, ErrorType, RegExp][] = [
  ["a program that does not exist", { command: "no-such-program", args: [] }, "CommandNotFound", /no-such-program/],
  ["a path that does not exist", { command: "./nothing", args: [] }, "CommandNotFound", /nothing/],
  ["a path through a file", { command: "./plain-file/x", args: [] }, "CommandNotFound", /plain-file/],
  ["a program with a missing interpreter", { command: "./bad-interpreter", args: [] }, "CommandNotFound", /bad-inter/],
  ["a file that is not executable", { command: "./plain-file", args: [] }, "PermissionDenied", /plain-file/],
  ["a folder", { command: "./folder", args: [] }, "PermissionDenied", /folder/],
  ["a program name with a trailing slash", { command: "./folder/", args: [] }, "PermissionDenied", /folder/],
  [
    "a missing working directory",
    { command: "true", cwd: "missing" },
    "WorkdirNotFound",
    /"missing" in `cwd` does not exist/,
  ],
  ["a file as the working directory", { command: "true", cwd: "plain-file" }, "WorkdirNotFound", /is not a folder/],
  ["a working directory in a loop of links", { command: "true", cwd: "loop" }, "PathOutOfScope", /loop/],
  [
    "a working directory with a name that is too long",
    { command: "true", cwd: "x".repeat(5000) },
    "WorkdirNotFound",
    /xxx/,
  ],
  [
    "arguments over 2 MiB",
    { command: "echo", args: Array(30).fill("x".repeat(100_000)) },
    "ArgumentsTooLong",
    /exceed the system/,
  ],
  [
    "one argument over 128 KiB",
    { command: "echo", args: ["x".repeat(140_000)] },
    "ArgumentsTooLong",
    /exceed the system/,
  ],
  ["shell text over 128 KiB", { command: `: ${"x".repeat(140_000)}` }, "ArgumentsTooLong", /exceed the system/],
  [
    "an environment over 2 MiB",
    { command: "true", env: environment(30, 100_000) },
    "ArgumentsTooLong",
    /exceed the system/,
  ],
  [
    "too many arguments",
    { command: "true", args: Array(400_000).fill("xxxx") },
    "ArgumentsTooLong",
    /exceed the system/,
  ],
  ["a log in a missing folder", { command: "true", logFile: "missing/log" }, "WorkdirNotFound", /does not exist/],
  ["a log that is a pipe", { command: "true", logFile: "fifo" }, "SpawnFailed", /log file/],
  ["a log that is a dangling link", { command: "true", logFile: "link" }, "PathOutOfScope", /link/],
  ["a log that is a folder", { command: "true", logFile: "folder" }, "SpawnFailed", /log file/],
  ["a log that is a device", { command: "true", logFile: "/dev/null" }, "SpawnFailed", /log file/],
];

function environment(count: number, length: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`V${i}`, "x".repeat(length)]));
}

for (const [name, request, type, message] of CANNOT_START) {
  test(`${name} fails with ${type} and a recovery hint`, async () => {
    const result = await gateway.run(request);
    assert.deepEqual([result.status, result.exitCode, result.signal, result.error?.type], ["failed", null, null, type]);
    assert.match(result.error?.message ?? "", message);
    assertTeaches(result.error);
    const session = await gateway.start(request);
    const info = await session.wait();
    assert.deepEqual([info.status, info.pid, info.error?.type], ["failed", null, type]);
  });
}

test("a script without a #! line is run by sh", async () => {
  const result = await gateway.run({ command: "./no-interpreter", args: ["yes"] });
  assert.equal(result.stdout, "run by sh: yes\n");
});

test("distinguishes an inaccessible working directory from a missing one", async (t) => {
  if (process.getuid?.() === 0) return t.skip("root may enter every folder");
  chmodSync(fixture.path("folder"), 0);
  const result = await gateway.run({ command: "true", cwd: "folder" });
  chmodSync(fixture.path("folder"), 0o700);
  assert.match(result.error?.message ?? "", /cannot be entered/);
});

const circular: Record<string, unknown> = {};
circular.self = circular;
const REFUSED: [string, unknown, RegExp][] = [
  ["undefined", undefined, /request/i],
  ["null", null, /request/i],
  ["a string as the request", "ls", /request/i],
  ["an empty command", { command: "" }, /`command`.*empty/],
  ["a missing command", { args: [] }, /`command`/],
  ["a NUL in the command", { command: "echo a\0b" }, /`command`.*NUL/],
  ["a NUL in an argument", { command: "echo", args: ["a", "b\0"] }, /`args\.1`.*NUL/],
  ["a NUL in a variable", { command: "true", env: { A: "a\0b" } }, /`env\.A`.*NUL/],
  ["a NUL in a variable name", { command: "true", env: { "A\0": "b" } }, /NUL/],
  ["a NUL in the working directory", { command: "true", cwd: "a\0" }, /`cwd`.*NUL/],
  ["a NUL in the log's path", { command: "true", logFile: "a\0" }, /`logFile`.*NUL/],
  ["a variable name with an equals sign", { command: "true", env: { "A=B": "c" } }, /name/],
  ["an empty variable name", { command: "true", env: { "": "c" } }, /name/],
  ["a number as the command", { command: 5 }, /`command`.*5/],
  ["a bigint as the command", { command: 5n }, /`command`/],
  ["a circular object as the command", { command: circular }, /`command`/],
  ["a symbol as the command", { command: Symbol("x") }, /`command`/],
  ["a bigint as the timeout", { command: "true", timeoutMs: 5n }, /`timeoutMs`/],
  ["a string as the arguments", { command: "echo", args: "x" }, /`args`/],
  ["a negative timeout", { command: "true", timeoutMs: -1 }, /`timeoutMs`.*-1/],
  ["a fractional timeout", { command: "true", timeoutMs: 0.5 }, /`timeoutMs`/],
  ["NaN as the timeout", { command: "true", timeoutMs: Number.NaN }, /`timeoutMs`/],
  ["an infinite grace period", { command: "true", graceMs: Number.POSITIVE_INFINITY }, /`graceMs`/],
  ["a disk cap that is too small", { command: "true", diskCap: 100 }, /`diskCap`.*65536/],
  ["a negative disk cap", { command: "true", diskCap: -1 }, /`diskCap`/],
  ["an unknown capture", { command: "true", capture: "both" }, /`capture`/],
  ["an unknown stdin mode", { command: "true", stdin: "pipe" }, /`stdin`/],
  ["too much stdin", { command: "cat", stdin: { text: "x".repeat((8 << 20) + 1) } }, /stdin/],
  ["a name with a slash", { command: "true", name: "../x" }, /`name`/],
  ["an unknown option", { command: "true", tiemout: 5 }, /tiemout/],
];

for (const [name, request, message] of REFUSED) {
  test(`rejects ${name} and names the option`, async () => {
    await assert.rejects(gateway.run(request as RunRequest), (error: SallyportError) => {
      assert.ok(error instanceof SallyportError, String(error));
      assert.equal(error.type, "InvalidRequest");
      assert.match(error.message, message);
      assert.ok(error.message.length < 1000, "the message is too long");
      assertTeaches(error);
      return true;
    });
  });
}

test("rejects an oversized request before it is sent", async () => {
  const wide = "€".repeat(6 << 20);
  await assert.rejects(gateway.run({ command: "cat", stdin: { text: wide }, args: ["€".repeat(6 << 20)] }), {
    type: "ArgumentsTooLong",
  });
  await assert.rejects(gateway.run({ command: "x".repeat(9 << 20) }), { type: "ArgumentsTooLong" });
});

test("distinguishes an unknown id, an ambiguous prefix and a name in use", async () => {
  const first = await gateway.run({ command: "true", name: "taken" });
  const second = await gateway.run({ command: "true" });
  let common = 0;
  while (first.id[common] === second.id[common]) common++;
  const prefix = first.id.slice(0, common);
  const cases: [string, ErrorType][] = [
    ["no-such-name", "SessionNotFound"],
    ["ffffffff-ffff-7fff-8fff-ffffffffffff", "SessionNotFound"],
    ["", "SessionNotFound"],
    ["%", "SessionNotFound"],
    ["'; drop table sessions; --", "SessionNotFound"],
    ["../../etc", "SessionNotFound"],
    [prefix, "AmbiguousId"],
  ];
  for (const [reference, type] of cases) {
    assert.throws(
      () => gateway.session(reference),
      (error: SallyportError) => {
        assert.equal(error.type, type, reference);
        assertTeaches(error);
        return true;
      },
    );
  }
  assert.equal(gateway.session(first.id.slice(0, -1)).id, first.id);
  assert.equal(gateway.session("taken").id, first.id);
  await assert.rejects(gateway.run({ command: "true", name: "taken" }), (error: SallyportError) => {
    assert.equal(error.type, "NameInUse");
    assertTeaches(error);
    return true;
  });
});

for (const reference of [undefined, null, 5, {}, Symbol("x"), ["nobody"]]) {
  test(`finds no session for the ${typeof reference} ${String(reference)}`, () => {
    assert.throws(() => gateway.session(reference as string), { name: "SallyportError", type: "SessionNotFound" });
  });
}

for (const options of [
  { signal: "SIGNOTHING" },
  { signal: "0" },
  { signal: "65" },
  { signal: "-9" },
  { signal: "" },
  { signal: {} },
  { graceMs: -1 },
  { graceMs: 1.5 },
  { graceMs: Number.NaN },
  { graceMs: "5" },
]) {
  test(`rejects a kill with ${Object.entries(options)}, and the session keeps running`, async () => {
    const session = await gateway.start({ command: "sleep 30" });
    await assert.rejects(session.kill(options as never), (error: SallyportError) => {
      assert.equal(error.type, "InvalidRequest", String(error));
      assertTeaches(error);
      return true;
    });
    assert.equal(session.info().status, "running");
    await session.kill({ graceMs: 0 });
  });
}
