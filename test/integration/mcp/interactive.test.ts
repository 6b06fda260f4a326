/** Programs that wait for a person, as an agent meets them over MCP: each answer says what is awaited, or nothing waits. */
import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { type Connected, McpFixture } from "../../fixtures/mcp.ts";
import { until } from "../../fixtures/until.ts";

const fixture = new McpFixture({
  toolsets: { exec: true },
  permissions: { run: "autonomous", write: "autonomous", kill: "autonomous" },
});
const names = ["bash", "runner", "process", "exec", "shell"] as const;
type Name = (typeof names)[number];
const connected = {} as Record<Name, Connected>;

before(async () => {
  for (const name of names) connected[name] = await fixture.stdio(["--tools", name, "--answer-within", "60s"]);
});
after(() => fixture.close());

// biome-ignore lint/suspicious/noExplicitAny: the fields of a result depend on its tool
type Result = Record<string, any>;

async function call(toolset: Name, name: string, args: object): Promise<{ text: string; data: Result }> {
  const answer = await connected[toolset].client.callTool({ name, arguments: { ...args } });
  const [first] = answer.content as { text: string }[];
  return { text: first?.text ?? "", data: (answer.structuredContent ?? {}) as Result };
}

/** Runs a command in the foreground of a toolset, and returns the text of the answer. */
const RUN: Record<Name, (command: string) => Promise<string>> = {
  bash: async (command) => (await call("bash", "Bash", { command, description: "x", timeout: 50 })).text,
  runner: async (command) =>
    (await call("runner", "run", { command, shell: true, timeout: 50, intent: "a test" })).text,
  process: async (command) => (await call("process", "process.run", { command, timeout: 50 })).text,
  exec: async (command) => (await call("exec", "execute", { command, timeout: 50 })).text,
  shell: async (command) => (await call("shell", "exec", { command, pty: false, yieldMs: 50_000 })).text,
};

function repository(name: string): string {
  const folder = join(fixture.fixture.workspace, name);
  mkdirSync(folder, { recursive: true });
  return `cd ${name} && git init -q && git config user.email a@example.com && git config user.name A`;
}

for (const toolset of names) {
  test(`${toolset}: without a terminal, git commit without a message fails and names -m`, async () => {
    const text = await RUN[toolset](`${repository(`commit-${toolset}`)}; git commit --allow-empty`);
    assert.match(text, /There is no editor, because the command has no terminal.*git commit -m TEXT/s);
  });

  test(`${toolset}: an editor without a terminal is ended, and the answer says why`, async () => {
    const text = await RUN[toolset]("vim notes.txt");
    assert.match(text, /`vim` was waiting for keys in an editor, but the command has no terminal, so it was ended/);
    assert.match(text, /git commit -m TEXT/);
  });

  test(`${toolset}: a question without a terminal is answered with the end of input`, async () => {
    const text = await RUN[toolset]('read -p "Continue? " answer; echo "got <$answer> $?"; read -s secret; echo "$?"');
    assert.match(text, /got <>/);
  });
}

test("an editor that the caller chose is used", async () => {
  const setUp = repository("chosen");
  const commit = (how: string) => `${setUp}; ${how}; git log --format=%s`;
  const message = "printf 'by the caller\\n' >";
  for (const how of [
    `GIT_EDITOR="${message}" git commit --allow-empty`,
    `git -c core.editor="${message}" commit --allow-empty`,
    `EDITOR="${message}" VISUAL="${message}" git commit --allow-empty`,
  ]) {
    assert.match(await RUN.bash(commit(how)), /by the caller\n/, how);
  }
  const given = { command: "echo $EDITOR,$VISUAL,$PAGER", env: { EDITOR: "true", PAGER: "" }, pty: false };
  assert.equal((await call("shell", "exec", given)).text.trim(), "true,,");
});

test("a background command whose editor waits is ended, and BashOutput says why", async () => {
  const { text } = await call("bash", "Bash", { command: "vim a.txt", description: "x", run_in_background: true });
  const shell_id = /shell_id: (\S+)/.exec(text)?.[1];
  let read = "";
  await until("the command has ended", async () => {
    read = (await call("bash", "BashOutput", { shell_id })).text;
    return read.includes("status: killed");
  });
  assert.match(read, /`vim` was waiting for keys in an editor/);
});

/** Commands that wait on a terminal, with what the answer must say about each. */
const ON_TERMINAL: [command: string, wait: RegExp, how: RegExp][] = [
  [`vim other.txt`, /`vim` is waiting for keys in an editor/, /send-keys/],
  ["less /etc/services", /`less` is waiting for keys in a pager/, /send-keys/],
  ['read -p "Continue? [y/N] " a', /`bash` is waiting for an answer: "Continue\? \[y\/N\]"/, /submit|write/],
  ['read -s -p "Password: " a', /`bash` is waiting for a password: "Password:"/, /submit|write/],
  ["touch old; rm -i old", /`rm` is waiting for an answer: "rm: remove .*old'\?"/, /submit|write/],
  ["python3", /`python3?` is waiting for input: ">>>"/, /submit|write/],
  ["cat", /`cat` is waiting for input/, /submit|write/],
];

for (const [command, wait, how] of ON_TERMINAL) {
  test(`shell: a command on a terminal that waits is reported when it moves to the background: ${command}`, async () => {
    const args = { command, pty: true, yieldMs: 0 };
    const started = await call("shell", "exec", args);
    const session_id = /session_id (\S+),/.exec(started.text)?.[1];
    let { text } = started;
    await until("the answer says what is awaited", async () => {
      if (wait.test(text)) return true;
      text = (await call("shell", "process", { action: "poll", session_id })).text;
      return false;
    });
    assert.match(text, how);
    await call("shell", "process", { action: "remove", session_id });
  });

  test(`exec: process_poll reports a command on a terminal that waits: ${command}`, async () => {
    const started = await call("exec", "execute_pty", { command, background: true });
    const session_id = /session_id: ([^,\]]+)/.exec(started.text)?.[1];
    let waiting = "";
    await until("the answer says what is awaited", async () => {
      waiting = (await call("exec", "process_poll", { session_id })).text;
      return wait.test(waiting);
    });
    assert.match(waiting, /process_manager action=(?:write|send-keys)/);
    await call("exec", "process_manager", { action: "kill", session_id });
  });
}

test("a program that reads an open stdin is reported, and answered", async () => {
  const started = await call("shell", "exec", { command: 'read a; echo "got $a"', background: true, pty: false });
  const session_id = /session_id (\S+),/.exec(started.text)?.[1];
  let text = "";
  await until("the poll says what is awaited", async () => {
    text = (await call("shell", "process", { action: "poll", session_id })).text;
    return text.includes("`bash` is waiting for input");
  });
  assert.match(text, /action=submit/);
  assert.match(
    (await call("shell", "process", { action: "submit", session_id, data: "yes" })).text,
    /has ended|running/,
  );
  await call("shell", "process", { action: "wait", session_id });
  assert.match((await call("shell", "process", { action: "log", session_id })).text, /got yes/);
});

test("a server that watches its stdin among other events is not reported as waiting", async () => {
  const command = `node -e 'process.stdin.on("data", () => {}); console.log("listening")'`;
  const started = await call("shell", "exec", { command, background: true, pty: false });
  const session_id = /session_id (\S+),/.exec(started.text)?.[1];
  const { text } = await call("shell", "process", { action: "wait", session_id, pattern: "listening" });
  assert.doesNotMatch(text, /waiting for/);
  assert.doesNotMatch((await call("shell", "process", { action: "poll", session_id })).text, /waiting for/);
  await call("shell", "process", { action: "remove", session_id });
});

test("a pipeline that waits for another command is not reported as waiting", async () => {
  const started = await call("shell", "exec", { command: "sleep 600 | cat", background: true, pty: false });
  const session_id = /session_id (\S+),/.exec(started.text)?.[1];
  const { text } = await call("shell", "process", { action: "wait", session_id, quietMs: 300 });
  assert.doesNotMatch(text, /waiting for/);
  await call("shell", "process", { action: "remove", session_id });
});

test("a command on a terminal that times out says what it waited for", async () => {
  const { text } = await call("exec", "execute_pty", { command: 'read -p "Proceed? [y/N] " a', timeout: 2 });
  assert.match(text, /When the time was over, `bash` was waiting for an answer: "Proceed\? \[y\/N\]"/);
  assert.match(text, /--yes/);
});

test("submit types :wq into vim as keys, and pastes several lines", async () => {
  const started = await call("shell", "exec", { command: "vim -u NONE --cmd 'set paste' typed.txt", yieldMs: 0 });
  const session_id = /session_id (\S+),/.exec(started.text)?.[1];
  const act = (action: string, more: object = {}) => call("shell", "process", { action, session_id, ...more });
  await act("wait", { input: true });
  await act("send-keys", { keys: ["i"] });
  await act("submit", { data: "first" });
  await act("submit", { data: "second\n  third" });
  await act("send-keys", { keys: ["Escape"] });
  await act("wait", { input: true });
  await act("submit", { data: ":wq" });
  await act("wait");
  const text = readFileSync(join(fixture.fixture.workspace, "typed.txt"), "utf8");
  assert.deepEqual(text.trimEnd().split("\n"), ["first", "second", "  third"]);
});

test("the answers to input, resize and extend have the new state, and errors name the same session", async () => {
  const started = await call("shell", "exec", { command: "cat", pty: true, yieldMs: 0 });
  const session_id = /session_id (\S+),/.exec(started.text)?.[1] ?? "";
  const act = async (action: string, more: object = {}) =>
    (await call("shell", "process", { action, session_id, ...more })).text;
  assert.match(await act("resize", { columns: 90, rows: 20 }), /90 columns and 20 rows/);
  assert.match(await act("extend", { timeout: 60 }), /deadline is 60 s from now/);
  assert.match(await act("extend", { timeout: 0 }), /no deadline/);
  await act("wait", { input: true });
  assert.match(await act("submit", { data: "x" }), /is running.*`cat` is waiting for input/s);
  await act("send-keys", { keys: ["C-d"] });
  await act("wait");
  assert.match(await act("poll"), new RegExp(`Session ${session_id} has ended`));
  assert.match(await act("submit", { data: "x" }), new RegExp(`Session \`${session_id}\` has already ended`));
});

test("SIGINT is not followed by SIGKILL", async () => {
  const command = "trap 'echo interrupted' INT; echo ready; while :; do sleep 0.1; done";
  const started = await call("shell", "exec", { command, background: true, pty: false });
  const session_id = /session_id (\S+),/.exec(started.text)?.[1];
  const act = async (action: string, more: object = {}) =>
    (await call("shell", "process", { action, session_id, ...more })).text;
  await act("wait", { pattern: "ready" });
  assert.match(await act("kill", { signal: "INT" }), /is running/);
  await act("wait", { pattern: "interrupted" });
  // The time after which SIGTERM is followed by SIGKILL has passed when the answer arrives.
  assert.match(await act("kill", { signal: "SIGINT" }), /is running/);
  assert.match(await act("poll"), /is running/);
  await act("remove");
});

const END: Record<Name, RegExp> = {
  bash: /KillShell/,
  runner: /kill_process/,
  process: /process\.kill/,
  exec: /process_manager action=kill/,
  shell: /process action=kill/,
};

for (const toolset of names) {
  test(`${toolset}: pkill of another session's process points to the tool that ends it`, async () => {
    for (const command of [
      "pkill no-such-server",
      "pkill -f no-such-server",
      "kill -9 4194303",
      "pkill no-such || true",
    ]) {
      const text = await RUN[toolset](command);
      assert.match(text, /can end only processes that it started itself/, `${command}: ${text}`);
      assert.match(text, END[toolset], command);
    }
    assert.doesNotMatch(await RUN[toolset]("sleep 600 & kill $!; echo done"), /can end only/);
  });
}
