import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { after, test } from "node:test";
import type { RunRequest } from "../../../src/core/request.ts";
import type { Session } from "../../../src/session/session.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";
import { missing } from "../../fixtures/on-path.ts";
import { drive as driveOn, lastWords, SHELL, timeoutMs, waits } from "./driven.ts";

const fixture = new GatewayFixture();
const gateway = await fixture.open();
after(() => fixture.close());

const drive = (request: RunRequest, use: (session: Session) => Promise<void>) => driveOn(gateway, request, use);

/** Waits for a pattern in the output since the last input, or after `offset`. */
async function shows(session: Session, pattern: RegExp, offset?: number): Promise<void> {
  const { reason } = await session.waitFor({ pattern, timeoutMs, offset });
  assert.equal(reason, "pattern", `${pattern} in ${await lastWords(session)}`);
}

async function ends(session: Session, exitCode = 0): Promise<void> {
  const { reason, info } = await session.waitFor({ timeoutMs });
  assert.deepEqual({ reason, exitCode: info.exitCode }, { reason: "exit", exitCode });
}

test("bash: runs commands, handles interrupt, suspend and end-of-file keys, and returns its exit code", async () => {
  await drive(SHELL, async (bash) => {
    await bash.sendKeys([..."echo $((40 + 2))", "Enter"]);
    await shows(bash, /^42\r?$/m);

    await bash.write("cat\r");
    await waits(bash);
    await bash.write("to and fro\r");
    await shows(bash, /to and fro\nto and fro/);
    await bash.sendKeys(["C-c"]);
    await shows(bash, /\^C/);
    await waits(bash);

    await bash.write("cat\r");
    await waits(bash);
    await bash.sendKeys(["C-z"]);
    await shows(bash, /Stopped +cat/);
    await waits(bash);
    await bash.write("fg\r");
    await shows(bash, /fg\s+cat/);
    await waits(bash);
    await bash.sendKeys(["C-d"]);
    await shows(bash, /ready> /);

    await waits(bash);
    await bash.write("exit 3\r");
    await ends(bash, 3);
  });
});

test("a busy program does not wait for input, but the shell does after the program has ended", async () => {
  await drive(SHELL, async (bash) => {
    await bash.write("sleep 0.5; echo slept\r");
    const { reason, offset } = await bash.waitFor({ input: true, timeoutMs });
    assert.equal(reason, "input");
    const { text } = await bash.logs({ limit: offset });
    assert.match(text, /\rslept\r\n/, "the shell was reported as waiting for input while `sleep` was running");
  });
});

test("python: evaluates lines at its prompt", { skip: missing("python3") }, async () => {
  await drive({ command: "python3", args: ["-q"] }, async (python) => {
    await python.write("import sys; print(sys.stdout.isatty(), 6 * 7)\r");
    await shows(python, /^True 42\r?$/m);
    await waits(python);
    await python.write("input('name? ')\r");
    await shows(python, /name\? $/);
    await waits(python);
    await python.write("ada\r");
    await shows(python, /'ada'/);
    await waits(python);
    await python.sendKeys(["C-d"]);
    await ends(python);
  });
});

test("node: evaluates lines at its prompt", async () => {
  await drive({ command: process.execPath, args: ["--interactive"], env: { NODE_REPL_HISTORY: "" } }, async (node) => {
    await node.paste("[1, 2, 3].map((n) => n * 14)", { submit: true });
    await shows(node, /\[ 14, 28, 42 \]/);
    await waits(node);
    await node.write(".exit\r");
    await ends(node);
  });
});

test("vim: edits and saves a file", { skip: missing("vim") }, async () => {
  const file = fixture.path("edited.txt");
  await drive({ command: "vim", args: ["-u", "NONE", "-n", file] }, async (vim) => {
    await vim.sendKeys(["i"]);
    await vim.write("first line");
    await vim.sendKeys(["Enter"]);
    await vim.write("wide: 漢字 and 😀");
    await vim.sendKeys(["Escape", "g", "g", "O"]);
    await vim.write("on top");
    await vim.sendKeys(["Escape"]);
    await waits(vim);
    await vim.write(":wq\r");
    await ends(vim);
  });
  assert.equal(readFileSync(file, "utf8"), "on top\nfirst line\nwide: 漢字 and 😀\n");
});

test("less: pages, searches and quits", { skip: missing("less") }, async () => {
  const file = fixture.path("long.txt");
  writeFileSync(file, Array.from({ length: 500 }, (_, n) => `line ${n + 1}`).join("\n"));
  await drive({ command: "less", args: [file], size: { columns: 80, rows: 10 } }, async (less) => {
    await shows(less, /line 9/, 0);
    await less.sendKeys(["Space"]);
    await shows(less, /line 18/);
    await waits(less);
    await less.write("/line 321\r");
    await shows(less, /line 329/);
    await waits(less);
    await less.sendKeys(["q"]);
    await ends(less);
  });
});

test("top: repaints periodically and quits", { skip: missing("top") }, async () => {
  await drive({ command: "top", args: ["-d", "0.3"] }, async (top) => {
    await shows(top, /PID/, 0);
    await top.sendKeys(["q"]);
    await ends(top);
  });
});

test("a password is neither echoed nor recorded", async () => {
  const command = "read -r -s -p 'Password: ' secret; echo; expr length \"$secret\"";
  await drive({ command }, async (asking) => {
    await asking.write("correct horse");
    await asking.sendKeys(["Enter"]);
    await ends(asking);
    const { text } = await asking.logs();
    assert.equal(text, "Password: \r\n13\r\n");
    const told = gateway.audit.search({ session: asking.id, limit: 100 });
    assert.equal(told.filter(({ kind, outcome }) => kind === "stdin" && outcome === "written").length, 2);
    assert.ok(!JSON.stringify(told).includes("correct horse"));
  });
});

test("git rebase -i: reorders commits in the editor it opens", {
  skip: missing("git") || missing("vim"),
}, async () => {
  const repository = fixture.path("repository");
  const env = {
    GIT_AUTHOR_NAME: "a",
    GIT_AUTHOR_EMAIL: "a@example.org",
    GIT_COMMITTER_NAME: "a",
    GIT_COMMITTER_EMAIL: "a@example.org",
    GIT_CONFIG_GLOBAL: "/dev/null",
  };
  const git = (...args: string[]) =>
    execFileSync("git", ["-C", repository, ...args], { encoding: "utf8", env: { ...process.env, ...env } });
  execFileSync("git", ["init", "-q", repository], { env: { ...process.env, ...env } });
  for (const name of ["zero", "one", "two"]) {
    writeFileSync(`${repository}/${name}`, name);
    git("add", name);
    git("commit", "-qm", name);
  }
  git("config", "sequence.editor", "vim -u NONE -n");
  const { GIT_CONFIG_GLOBAL: _, ...named } = env;
  await drive({ command: "git", args: ["rebase", "-i", "HEAD~2"], cwd: repository, env: named }, async (rebase) => {
    await shows(rebase, /pick/, 0);
    await rebase.sendKeys(["g", "g", "d", "d", "p"]);
    await waits(rebase);
    await rebase.write(":wq\r");
    await ends(rebase);
  });
  assert.equal(git("log", "--format=%s"), "one\ntwo\nzero\n");
});

test("gdb: stops and inspects a program", { skip: missing("gdb") || missing("cc") }, async () => {
  writeFileSync(fixture.path("answer.c"), "int main(void) { volatile int answer = 42; return answer; }\n");
  execFileSync("cc", ["-g", "-O0", "-o", fixture.path("answer"), fixture.path("answer.c")]);
  await drive({ command: "gdb", args: ["-q", "-nx", fixture.path("answer")] }, async (gdb) => {
    await gdb.write("set pagination off\r");
    await waits(gdb);
    await gdb.write("print 6 * 7\r");
    await shows(gdb, /= 42/);
    await waits(gdb);
    await gdb.write("quit\r");
    await ends(gdb);
  });
});

test("tmux: runs a shell in a window", { skip: missing("tmux") }, async () => {
  const socket = fixture.path("tmux.sock");
  const args = ["-f", "/dev/null", "-S", socket, "new-session", "bash --norc --noprofile"];
  const session = await gateway.start({ command: "tmux", args, pty: true });
  try {
    await shows(session, /\[0\] /, 0);
    await waits(session);
    await session.write('test -n "$TMUX" && echo $((40 + 2)) inside\r');
    await shows(session, /42 inside/);
    await session.write("exit\r");
    await ends(session);
  } finally {
    await session.kill({ graceMs: 0 }).catch(() => {});
  }
});

test("the program sees the terminal size and its changes", async () => {
  await drive({ ...SHELL, size: { columns: 91, rows: 17 } }, async (bash) => {
    await bash.write("stty size\r");
    await shows(bash, /^17 91\r?$/m);
    await bash.resize({ columns: 61, rows: 11 });
    await waits(bash);
    await bash.write("stty size\r");
    await shows(bash, /^11 61\r?$/m);
  });
});

test("wide characters and emoji pass in both directions", async () => {
  const text = "grüße 漢字 한국어 👩‍👩‍👧‍👦 e\u0301";
  await drive({ command: "cat" }, async (cat) => {
    await cat.write(`${text}\r`);
    await cat.sendKeys(["C-d"]);
    await ends(cat);
    assert.equal((await cat.logs()).text, `${text}\r\n${text}\r\n`);
  });
  // The kernel's line editing erases complete characters.
  await drive({ command: "cat" }, async (cat) => {
    await cat.write("a漢");
    await cat.sendKeys(["Backspace"]);
    await cat.write("b\r");
    await cat.sendKeys(["C-d"]);
    await ends(cat);
    assert.match((await cat.logs()).text, /\r\nab\r\n$/);
  });
});
