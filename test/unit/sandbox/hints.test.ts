import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { sandboxHints } from "../../../src/sandbox/hints.ts";
import type { SandboxSnapshot } from "../../../src/sandbox/snapshot.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "sallyport-hints-")));
after(() => rmSync(folder, { recursive: true }));
const cwd = join(folder, "workspace");
const outside = join(folder, "outside");
for (const place of [cwd, outside]) mkdirSync(place);

const USUAL: SandboxSnapshot = {
  profile: "workspace-write",
  network: "on",
  writable: [cwd],
  workspace: cwd,
  denied: ["/srv/secrets"],
  temporary: join(folder, "private"),
  user: null,
};

function hints(stderr: string, sandbox: Partial<SandboxSnapshot> = {}): string[] {
  return sandboxHints(stderr, { sandbox: { ...USUAL, ...sandbox }, cwd, home: "/home/ada" });
}

const one = (stderr: string, sandbox: Partial<SandboxSnapshot> = {}) => {
  const found = hints(stderr, sandbox);
  assert.equal(found.length, 1, `${stderr}: ${JSON.stringify(found)}`);
  assert.match(found[0] ?? "", /^sandbox, likely cause: /);
  return found[0] ?? "";
};

test("writing outside the workspace is recognised as programs say it", () => {
  const path = join(outside, "x");
  for (const line of [
    `touch: cannot touch '${path}': Permission denied`,
    `bash: line 1: ${path}: Permission denied`,
    `mkdir: cannot create directory ‘${path}’: Read-only file system`,
    `Error: EACCES: permission denied, open '${path}'`,
    `PermissionError: [Errno 13] Permission denied: '${path}'`,
    `open ${path}: permission denied`,
    "cp: cannot create regular file '../outside/x': Permission denied",
  ]) {
    assert.match(one(line), new RegExp(`writing to ${path}.*writable: \\["${outside}"\\]`), line);
  }
});

test("what is denied takes more than a path", () => {
  assert.match(one("cat: /home/ada/.ssh/id_rsa: Permission denied"), /\.ssh\/id_rsa is masked .*sandbox: "off"/);
  assert.match(one("cat: /srv/secrets/key: Permission denied"), /masked for every sandboxed command/);
});

test("a protected spot of the workspace is named, with what to ask for", () => {
  const spot = `writable: \\["${cwd}/.git/config"\\]`;
  assert.match(one("error: could not lock config file .git/config: Read-only file system"), new RegExp(spot));
  assert.match(one("error: could not write config file .git/config: Device or resource busy"), new RegExp(spot));
  assert.match(one(`tee: ${cwd}/.vscode/tasks.json: Read-only file system`), /\.vscode"\]/);
});

test("without a network its complaints are about that", () => {
  const lines = [
    "curl: (6) Could not resolve host: example.com",
    "curl: (7) Failed to connect to 1.1.1.1 port 80 after 0 ms: Couldn't connect to server",
    "npm error code EAI_AGAIN",
    "socket.gaierror: [Errno -3] Temporary failure in name resolution",
  ];
  for (const line of lines) {
    assert.match(one(line, { network: "off" }), /no network; ask for `network: "on"`/);
    assert.deepEqual(hints(line), [], "the network is on: it is something else");
  }
  assert.match(one("connect to x: Permission denied", { network: { ports: [443] } }), /only the listed TCP ports/);
});

test("calls that no confined command may make are named", () => {
  assert.match(
    one('sudo: The "no new privileges" flag is set, which prevents sudo from running as root.'),
    /privileges/,
  );
  assert.match(one("unshare: unshare failed: Operation not permitted"), /namespaces/);
  assert.match(one("mount: /mnt: permission denied."), /mounts anything/);
  assert.match(one("strace: attach: ptrace(PTRACE_SEIZE, 1): Operation not permitted"), /its own processes/);
  assert.match(one("bash: line 1: kill: (1) - Operation not permitted"), /signals only its own/);
});

test("what has nothing to do with the sandbox gets no hint", () => {
  for (const line of [
    "ls: cannot access '/nope': No such file or directory",
    `cat: ${cwd}/locked: Permission denied`,
    "make: *** [Makefile:2: all] Error 1",
    "error: expected ';' before '}' token",
    "",
  ]) {
    assert.deepEqual(hints(line), [], line);
  }
  assert.deepEqual(
    hints(`touch: cannot touch '${outside}/x': Permission denied`, { profile: "off", writable: [] }),
    [],
  );
});

test("a read-only command is told what writes", () => {
  assert.match(one("bash: f: Permission denied", { profile: "read-only", writable: [] }), /sandbox: "workspace-write"/);
});

test("there are few hints, each once, and hostile output costs nothing", () => {
  const lines = Array.from({ length: 5000 }, (_, i) => `touch: cannot touch '${outside}/${i}': Permission denied`);
  assert.equal(hints(lines.join("\n")).length, 3);
  const same = `touch: cannot touch '${outside}/x': Permission denied\n`;
  assert.equal(hints(same.repeat(100)).length, 1);
  assert.deepEqual(hints(`${"'".repeat(1 << 20)} Permission denied`), []);
  assert.ok(!one(`touch: cannot touch '${outside}/\u001b[2Jx': Permission denied`).includes("\u001b"));
});
