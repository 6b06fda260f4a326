import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { createServer } from "node:net";
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
  sockets: [],
  temporary: join(folder, "private"),
  hidden: [],
  user: null,
  level: "full",
  notEnforced: [],
};

function hints(stderr: string, sandbox: Partial<SandboxSnapshot> = {}): string[] {
  return sandboxHints(stderr, { sandbox: { ...USUAL, ...sandbox }, cwd, home: "/home/ada" }).map(({ hint }) => hint);
}

const one = (stderr: string, sandbox: Partial<SandboxSnapshot> = {}) => {
  const found = hints(stderr, sandbox);
  assert.equal(found.length, 1, `${stderr}: ${JSON.stringify(found)}`);
  assert.match(found[0] ?? "", /^Probably denied by the sandbox: /);
  return found[0] ?? "";
};

test("recognizes the error messages of programs that write outside the workspace", () => {
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
    assert.match(one(line), new RegExp(`${path} is outside the workspace.*writable: \\["${outside}"\\]`), line);
  }
});

test("explains a write to a read-only folder that is visible in a private directory", () => {
  const line = `touch: cannot touch '${outside}/x': Read-only file system`;
  assert.match(one(line, { hidden: [folder] }), new RegExp(`${outside}/x is outside the workspace`));
});

test("explains that files of other programs in /tmp are not visible", () => {
  const hidden = { hidden: [folder] };
  for (const line of [
    `cat: ${outside}/x: No such file or directory`,
    `python3: can't open file '${outside}/x.py': [Errno 2] No such file or directory`,
    `Error: ENOENT: no such file or directory, open '${outside}/x'`,
  ]) {
    assert.match(one(line, hidden), new RegExp(`${folder} is private to sandboxed commands`), line);
    assert.deepEqual(hints(line), [], "without a private directory");
  }
  assert.deepEqual(hints(`cat: ${cwd}/x: No such file or directory`, hidden), [], "the workspace is visible");
  assert.deepEqual(hints(`touch: cannot touch '${outside}/x': Permission denied`, hidden), [], "it is writable");
});

test("suggests disabling the sandbox for a masked path", () => {
  assert.match(one("cat: /home/ada/.ssh/id_rsa: Permission denied"), /\.ssh\/id_rsa is masked .*sandbox: "off"/);
  assert.match(one("cat: /srv/secrets/key: Permission denied"), /masked for every sandboxed command/);
});

test("names `sockets` for a Unix socket outside the workspace", async () => {
  const path = join(outside, "daemon.sock");
  const server = createServer().listen(path);
  await once(server, "listening");
  try {
    for (const line of [
      `Cannot connect to the Docker daemon at unix://${path}. Is the docker daemon running?`,
      `dial unix ${path}: connect: permission denied`,
      `Error: connect EACCES ${path}`,
      `error connecting to ${path} (Permission denied)`,
    ]) {
      assert.match(one(line), new RegExp(`${path} is a Unix socket outside the workspace.*\`sockets\``), line);
      assert.doesNotMatch(hints(line, { sockets: [path] }).join(), /`sockets`/, line);
    }
  } finally {
    server.close();
  }
});

test("suggests `writable` for a protected path", () => {
  const request = `writable: \\["${cwd}/.git/config"\\]`;
  assert.match(one("error: could not lock config file .git/config: Read-only file system"), new RegExp(request));
  assert.match(one("error: could not write config file .git/config: Device or resource busy"), new RegExp(request));
  assert.match(one("error: could not lock config file .git/config: Read-only file system"), /git -c NAME=VALUE/);
  assert.doesNotMatch(one(`tee: ${cwd}/.vscode/tasks.json: Read-only file system`), /git -c/);
  assert.match(one(`tee: ${cwd}/.vscode/tasks.json: Read-only file system`), /\.vscode"\]/);
});

test("suggests network access when the network is restricted", () => {
  const lines = [
    "curl: (6) Could not resolve host: example.com",
    "curl: (7) Failed to connect to 1.1.1.1 port 80 after 0 ms: Couldn't connect to server",
    "npm error code EAI_AGAIN",
    "socket.gaierror: [Errno -3] Temporary failure in name resolution",
  ];
  for (const line of lines) {
    assert.match(one(line, { network: "off" }), /the network is off; request `network: "on"`/);
    assert.deepEqual(hints(line), [], "no hint when the network is on");
  }
  assert.match(one("connect to x: Permission denied", { network: { ports: [443] } }), /only the listed TCP ports/);
});

test("names the operation that the sandbox always denies", () => {
  assert.match(
    one('sudo: The "no new privileges" flag is set, which prevents sudo from running as root.'),
    /privileges/,
  );
  assert.match(one("unshare: unshare failed: Operation not permitted"), /namespaces/);
  assert.match(one("mount: /mnt: permission denied."), /mount file systems/);
  assert.match(
    one("strace: attach: ptrace(PTRACE_SEIZE, 1): Operation not permitted"),
    /trace only their own processes/,
  );
  assert.match(one("bash: line 1: kill: (1) - Operation not permitted"), /signal only their own processes/);
});

test("gives no hint for errors that the sandbox does not cause", () => {
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

test("suggests `workspace-write` to a read-only command", () => {
  assert.match(one("bash: f: Permission denied", { profile: "read-only", writable: [] }), /sandbox: "workspace-write"/);
});

test("returns at most three distinct hints, even for hostile output", () => {
  const lines = Array.from({ length: 5000 }, (_, i) => `touch: cannot touch '${outside}/${i}': Permission denied`);
  assert.equal(hints(lines.join("\n")).length, 1, "files in one folder need the same access");
  const folders = lines.slice(0, 5).map((_, i) => mkdirSync(join(outside, `folder-${i}`), { recursive: true }));
  const others = folders.map((each) => `touch: cannot touch '${each}/x': Permission denied`);
  assert.equal(hints(others.join("\n")).length, 3);
  const same = `touch: cannot touch '${outside}/x': Permission denied\n`;
  assert.equal(hints(same.repeat(100)).length, 1);
  assert.deepEqual(hints(`${"'".repeat(1 << 20)} Permission denied`), []);
  assert.ok(!one(`touch: cannot touch '${outside}/\u001b[2Jx': Permission denied`).includes("\u001b"));
});

test("does not take a URL for a path", () => {
  const lines = [
    "E: Failed to fetch http://deb.debian.org/debian/pool/x.deb  Permission denied",
    "error: cannot read https://example.com/usr/lib/x: Operation not permitted",
  ];
  for (const line of lines) assert.deepEqual(hints(line), [], line);
});
