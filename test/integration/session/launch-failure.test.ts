import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs, { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { constants, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { LocalSessionReader } from "../../../src/session/session-folder.ts";
import { exitRecord, launchError, sessionFields } from "../../fixtures/session-rows.ts";

const { errno: E } = constants;

/** Returns the message and the first recovery hint, as sentences. */
function failureMessage({ message, recovery }: { message: string; recovery: readonly { hint: string }[] }): string {
  const sentence = (text: string) => (/[.!?]$/.test(text) ? text : `${text}.`);
  return [message, ...recovery.slice(0, 1).map(({ hint }) => hint)].map(sentence).join(" ");
}

const folder = mkdtempSync(join(tmpdir(), "sallyport-launch-"));
after(() => rmSync(folder, { recursive: true }));

function file(name: string, mode: number, text: string): void {
  writeFileSync(join(folder, name), text);
  chmodSync(join(folder, name), mode);
}

file("plain.sh", 0o644, "#!/bin/bash\necho\n");
file("plain.py", 0o644, "print()\n");
file("data", 0o644, "data\n");
file("bad", 0o755, "#!/no/such/interpreter -x\n");
file("windows.sh", 0o755, "#!/bin/sh\r\necho\r\n");
file("garbage", 0o755, "\u007fELF but no more\n");
file("good", 0o755, "#!/bin/sh\nexit 0\n");
mkdirSync(join(folder, "inner"));

const told = (step: string, errno: number, program: string, cwd = folder) => {
  const failure = launchError({ step, errno }, program, cwd);
  return `${failure.type}: ${failureMessage(failure)}`;
};

const reader = new LocalSessionReader();
const logs = mkdtempSync(join(tmpdir(), "sallyport-launch-log-"));
after(() => rmSync(logs, { recursive: true }));

/** Returns the error in the result of a shell that exited with `code` and wrote `stderr`. */
async function shellError(code: number, stderr: string) {
  writeFileSync(join(logs, "stderr"), stderr);
  const stream = (bytes: number) => ({ bytes, droppedStart: 0, droppedEnd: 0, lost: 0 });
  const record = exitRecord({ code, streams: [stream(0), stream(Buffer.byteLength(stderr))] });
  const data = reader.open({ id: "1", capture: "apart" }, logs, () => null);
  return (await data.result("n", sessionFields({ cwd: folder }), record)).error;
}

test("each cause of a failed start has its own error and hint", () => {
  const cases: [step: string, errno: number, program: string, told: string][] = [
    [
      "execve",
      E.EACCES,
      "./plain.sh",
      "PermissionDenied: Permission denied: ./plain.sh is not executable. Make it executable with `chmod +x ./plain.sh`, or run it with `/bin/bash ./plain.sh`.",
    ],
    [
      "execve",
      E.EACCES,
      "./plain.py",
      "PermissionDenied: Permission denied: ./plain.py is not executable. Make it executable with `chmod +x ./plain.py`, or run it with `python3 ./plain.py`.",
    ],
    [
      "execve",
      E.EACCES,
      "./data",
      "PermissionDenied: Permission denied: ./data is not executable. Make it executable with `chmod +x ./data`.",
    ],
    [
      "execve",
      E.EACCES,
      "./inner",
      "PermissionDenied: Permission denied: ./inner is a folder. Use a program in it, or list it with `ls ./inner`.",
    ],
    [
      "execve",
      E.EACCES,
      "./good",
      "PermissionDenied: Permission denied: ./good cannot be executed here: its permissions, the sandbox or a security module forbid it. Check that the command is executable and that its parent folders can be entered.",
    ],
    [
      "execve",
      E.ENOENT,
      "./bad",
      "CommandNotFound: ./bad needs the interpreter /no/such/interpreter, which does not exist. Fix its first line, or run it with another interpreter, such as `bash ./bad`.",
    ],
    [
      "execve",
      E.ENOENT,
      "./windows.sh",
      "CommandNotFound: ./windows.sh has Windows line endings: its first line names /bin/sh followed by a carriage return. Convert it with `sed -i 's/\\r$//' ./windows.sh`.",
    ],
    ["execve", E.ENOENT, "./god", "CommandNotFound: Command not found: ./god. Did you mean ./good?"],
    [
      "execve",
      E.ENOENT,
      "no-such-thing-at-all",
      "CommandNotFound: Command not found: no-such-thing-at-all. Run `command -v no-such-thing-at-all` to check that it is installed and on PATH.",
    ],
    [
      "execve",
      E.ENOEXEC,
      "./garbage",
      "SpawnFailed: ./garbage cannot run on this machine: it has no `#!` line, or was built for another processor. Check its type with `file ./garbage`.",
    ],
    [
      "execve",
      E.ETXTBSY,
      "./good",
      'SpawnFailed: ./good could not be started: the step "execve" failed (ETXTBSY). The program file is open for writing. Wait until it is closed, then retry.',
    ],
    [
      "execve",
      E.E2BIG,
      "./good",
      "ArgumentsTooLong: The arguments and environment exceed the system's limit (usually 2 MiB in total, 128 KiB per argument). Write the data to a file and pass its path.",
    ],
    [
      "fork",
      E.EAGAIN,
      "./good",
      "SpawnFailed: ./good could not be started: no process could be forked (EAGAIN). The process limit is reached. Stop some processes, then try again.",
    ],
    [
      "claim",
      E.ENOSPC,
      "./good",
      "SpawnFailed: ./good could not be started: its session folder could not be created (ENOSPC). Free disk space, then try again.",
    ],
  ];
  for (const [step, errno, program, expected] of cases) assert.equal(told(step, errno, program), expected, program);
});

test("reports why a working directory cannot be used", () => {
  const end = "Use an existing folder, or omit `cwd` to run in the workspace.";
  const gone = join(folder, "gone");
  const data = join(folder, "data");
  assert.equal(
    told("chdir", E.ENOENT, "x", gone),
    `WorkdirNotFound: The working directory ${gone} does not exist. ${end}`,
  );
  assert.equal(
    told("chdir", E.ENOTDIR, "x", data),
    `WorkdirNotFound: The working directory ${data} is not a folder. ${end}`,
  );
  assert.equal(
    told("chdir", E.EACCES, "x", folder),
    `WorkdirNotFound: The working directory ${folder} cannot be entered. ${end}`,
  );
});

test("a command that is not found always has two general hints", () => {
  const { recovery } = launchError({ step: "execve", errno: E.ENOENT }, "no-such-thing-at-all", folder);
  assert.deepEqual(
    recovery.map(({ action }) => action),
    ["check_path", "use_full_path"],
  );
});

test("messages shorten long program names and escape control characters", () => {
  const program = `\u001b[2J${"x".repeat(1 << 20)}`;
  const { message, recovery } = launchError({ step: "execve", errno: E.ENOENT }, program, folder);
  assert.match(message, /^Command not found: \\e\[2Jx+…\.$/);
  assert.ok(JSON.stringify({ message, recovery }).length < 2000);
});

/** Calls `check` with `text` as the content of `/proc/self/mountinfo`. Null makes reading it fail. */
function withMountinfo(text: string | null, check: () => void): void {
  const { readFileSync } = fs;
  fs.readFileSync = ((path: string, ...options: []) => {
    if (path !== "/proc/self/mountinfo") return readFileSync(path, ...options);
    if (text === null) throw new Error("ENOENT");
    return text;
  }) as typeof readFileSync;
  syncBuiltinESMExports();
  try {
    check();
  } finally {
    fs.readFileSync = readFileSync;
    syncBuiltinESMExports();
  }
}

test("reports a noexec mount, which is found in mountinfo", () => {
  const data = join(folder, "data dir");
  const mountinfo = [
    "22 1 0:21 / / rw,relatime shared:1 - ext4 /dev/sda rw",
    `23 22 0:22 / ${data.replace(" ", "\\040")} rw,nosuid,noexec shared:2 - tmpfs tmpfs rw`,
    `24 22 0:23 / ${data.replace(" ", "\\040")}/exec rw - tmpfs tmpfs rw`,
  ].join("\n");
  const cases: [file: string, mount: string | null][] = [
    ["good", null],
    ["data dir/x", data],
    ["data dir/exec/x", null],
    ["data dirbase/x", null],
  ];
  for (const [name, mount] of cases) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    file(name, 0o755, "#!/bin/sh\n");
    const error = () => launchError({ step: "execve", errno: E.EACCES }, `./${name}`, folder);
    withMountinfo(mountinfo, () => {
      const { message, recovery } = error();
      assert.equal(message.includes(`is on ${mount}, which is mounted noexec.`), mount !== null, message);
      if (mount === null) return;
      assert.equal(recovery[0]?.hint, `Run it with \`/bin/sh './${name}'\`, or copy it to another folder.`);
    });
    withMountinfo(null, () => assert.doesNotMatch(error().message, /noexec/));
  }
});

test("names a folder that cannot be entered", { skip: process.getuid?.() === 0 && "root can enter any folder" }, () => {
  const closed = join(folder, "closed");
  mkdirSync(closed);
  writeFileSync(join(closed, "x"), "");
  chmodSync(closed, 0o600);
  const { message } = launchError({ step: "execve", errno: E.EACCES }, "closed/x", folder);
  chmodSync(closed, 0o700);
  assert.equal(message, `Permission denied: closed/x is in ${closed}, which cannot be entered.`);
});

const KINDS = {
  "not-found": { code: 127, type: "CommandNotFound" },
  refused: { code: 126, type: "PermissionDenied" },
  format: { code: 126, type: "SpawnFailed" },
};

test("parses the error messages of shells", async () => {
  const cases: [line: string, program: string | null, kind?: keyof typeof KINDS][] = [
    ["bash: foo: command not found", "foo", "not-found"],
    ["bash: line 1: foo: command not found", "foo", "not-found"],
    ["environment: line 12: foo: command not found", "foo", "not-found"],
    ["./build.sh: line 3: foo bar: command not found", "foo bar", "not-found"],
    ["bash: line 1: ./x: No such file or directory", "./x", "not-found"],
    ["bash: ./x: cannot execute: required file not found", "./x", "not-found"],
    ["bash: ./x: /bin/nope: bad interpreter: No such file or directory", "./x", "not-found"],
    ["bash: line 1: exec: foo: not found", "foo", "not-found"],
    ["sh: 1: foo: not found", "foo", "not-found"],
    ["env: ‘foo’: No such file or directory", "foo", "not-found"],
    ["timeout: failed to run command 'foo': No such file or directory", "foo", "not-found"],
    ["bash: line 1: ./x: Permission denied", "./x", "refused"],
    ["bash: line 1: exec: ./x: cannot execute: Permission denied", "./x", "refused"],
    ["bash: line 1: /etc: Is a directory", "/etc", "refused"],
    ["bash: ./x: cannot execute binary file: Exec format error", "./x", "format"],
    ["some output\n\nbash: foo: command not found\n\n", "foo", "not-found"],
    ["bash: foo: command not found\nsomething after", null],
    ["bash: $'a\\nb': command not found", null],
    ["command not found", null],
    ["", null],
    [`bash: ${"x: ".repeat(100_000)}: command not found`, null],
  ];
  for (const [line, program, kind] of cases) {
    const { code, type } = KINDS[kind ?? "not-found"];
    const error = await shellError(code, line);
    assert.equal(error?.type ?? null, program === null ? null : type, line.slice(0, 80));
    if (program !== null) assert.ok(error?.message.includes(program), error?.message);
  }
});

test("explains the errors of a real bash", async () => {
  const cases: [text: string, code: number, told: string | null][] = [
    ["./god", 127, "Command not found: ./god. Did you mean ./good?"],
    [
      "true; ./bad",
      127,
      "./bad needs the interpreter /no/such/interpreter, which does not exist. Fix its first line, or run it with another interpreter, such as `bash ./bad`.",
    ],
    [
      "./plain.sh",
      126,
      "Permission denied: ./plain.sh is not executable. Make it executable with `chmod +x ./plain.sh`, or run it with `/bin/bash ./plain.sh`.",
    ],
    ["./inner", 126, "Permission denied: ./inner is a folder. Use a program in it, or list it with `ls ./inner`."],
    [
      "./garbage",
      126,
      "./garbage cannot run on this machine: it has no `#!` line, or was built for another processor. Check its type with `file ./garbage`.",
    ],
    [
      "no-such-thing-at-all --x | cat; exit 127",
      127,
      "Command not found: no-such-thing-at-all. Run `command -v no-such-thing-at-all` to check that it is installed and on PATH.",
    ],
    ["echo 'all is well' >&2; exit 127", 127, null],
    ["no-such-thing-at-all; exit 3", 3, null],
  ];
  for (const [text, code, expected] of cases) {
    const { status, stderr } = spawnSync("bash", ["-c", text], {
      cwd: folder,
      encoding: "utf8",
      env: { PATH: process.env.PATH, LC_ALL: "C" },
    });
    assert.equal(status, code, text);
    const failure = await shellError(code, stderr);
    assert.equal(failure && failureMessage(failure), expected, `${text}: ${stderr}`);
  }
});
