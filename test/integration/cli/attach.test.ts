import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";
import type { Session } from "../../../src/session/session.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";
import { ENTRY } from "../../fixtures/installed.ts";
import { missing } from "../../fixtures/on-path.ts";
import { until } from "../../fixtures/until.ts";

/** State of a second gateway, whose sessions act as the terminals of users. */
const terminals = new GatewayFixture();
const fixture = new GatewayFixture();
const users = await terminals.open();
const gateway = await fixture.open();
// Starts the keeper here. If a user's command line started it, it would end with that user's session.
await gateway.run({ command: "true" });
after(async () => {
  await terminals.close();
  await fixture.close();
});

const timeoutMs = 60_000;
const size = { columns: 70, rows: 12 };

/** Runs `sallyport` on a new terminal. */
function onTerminal(args: string[]): Promise<Session> {
  const command = process.execPath;
  const request = {
    command,
    args: [ENTRY, "--state", fixture.state, ...args],
    cwd: fixture.workspace,
    pty: true,
    size,
  };
  return users.start(request);
}

async function shows(session: Session, pattern: RegExp, offset?: number): Promise<void> {
  const { reason } = await session.waitFor({ pattern, timeoutMs, offset });
  assert.equal(reason, "pattern", `${pattern} in ${JSON.stringify((await session.logs()).text.slice(-600))}`);
}

/** Waits until the screen contains the text. */
async function onScreen(session: Session, text: string): Promise<void> {
  await until(`the screen shows ${text}`, async () => (await session.screen()).lines.join("\n").includes(text));
}

async function ends(session: Session, exitCode = 0): Promise<void> {
  const { info } = await session.waitFor({ timeoutMs });
  assert.equal(info.exitCode, exitCode, (await session.logs()).text.slice(-600));
}

const SHELL = ["--norc", "--noprofile", "-i"];
const env = { PS1: "ready> " };

test("run -it passes on keys, terminal size and exit code", async () => {
  const person = await onTerminal(["run", "-it", "-c", "stty size; read -r word; echo got $word; exit 7"]);
  await shows(person, /12 70/, 0);
  await person.write("hello\r");
  await shows(person, /got hello/);
  await ends(person, 7);
});

test("a terminal without a size gets the usual one", async () => {
  const words = ["-c", 'stty cols 0 rows 0; exec "$@"', "sh", process.execPath, ENTRY, "--state", fixture.state];
  const args = [...words, "run", "-it", "--", "stty", "size"];
  const person = await users.start({ command: "sh", args, cwd: fixture.workspace, pty: true, size });
  await shows(person, /24 80/, 0);
  await ends(person);
});

test("run -t allocates a terminal without attaching to it", async () => {
  const person = await onTerminal(["run", "-t", "--size", "33x5", "--", "stty", "size"]);
  await shows(person, /5 33/, 0);
  await ends(person);
});

test("attach shows the screen, passes on keys, and detaches with C-p C-q", async () => {
  const inner = await gateway.start({ command: "bash", args: SHELL, pty: true, env });
  await inner.waitFor({ input: true, timeoutMs });
  await inner.write("echo before $((1 + 1))\r");
  await shows(inner, /before 2/);
  await inner.waitFor({ input: true, timeoutMs });

  const person = await onTerminal(["attach", inner.id]);
  await shows(person, /before 2/, 0);
  await person.write("stty size\r");
  await shows(person, /12 70/);
  await until("this gateway knows the size of the inner session", () => inner.info().pty?.columns === size.columns);
  assert.deepEqual(inner.info().pty, size);
  await person.resize({ columns: 50, rows: 9 });
  await until("the inner session has the size of the user's terminal", () => inner.info().pty?.columns === 50);
  // A C-p that is not followed by C-q is passed on.
  await person.sendKeys(["C-p", "x"]);
  await person.sendKeys(["C-p", "C-q"]);
  await shows(person, /sallyport attach/);
  await ends(person);
  assert.equal(inner.info().status, "running");
  await inner.kill({ graceMs: 0 });
});

test("two attached terminals see each other's input, and a read-only one sends none", async () => {
  const inner = await gateway.start({ command: "bash", args: SHELL, pty: true, env });
  await inner.waitFor({ input: true, timeoutMs });
  const [one, two, looker] = await Promise.all([
    onTerminal(["attach", inner.id]),
    onTerminal(["attach", inner.id]),
    onTerminal(["attach", "--read-only", inner.id]),
  ]);
  for (const person of [one, two, looker]) await shows(person, /ready>/, 0);
  const seen = [two, looker].map((person) => person.info().streams.output?.bytes ?? 0);
  await looker.write("echo must not be seen\r");
  await one.write("echo from-$((40 + 2))\r");
  for (const [i, person] of [two, looker].entries()) await shows(person, /from-42/, seen[i] ?? 0);
  const answered = one.info().streams.output?.bytes ?? 0;
  await two.write("echo back-$((40 + 3)); exit 5\r");
  await shows(one, /back-43/, answered);
  for (const person of [one, two, looker]) await ends(person, 5);
  assert.doesNotMatch((await inner.logs()).text, /must not be seen/);
});

test("a terminal query of the program is answered once, not by each attached terminal", async () => {
  const command = "stty raw -echo; printf '\\e[c'; dd bs=100 count=1 2>/dev/null | od -c; stty sane; read -r rest";
  const inner = await gateway.start({ command: `read -p 'now? ' -r when; ${command}`, pty: true });
  await inner.waitFor({ input: true, timeoutMs });
  const person = await onTerminal(["attach", inner.id]);
  await shows(person, /now\?/, 0);
  await inner.write("\r");
  await shows(inner, /2\s+c/, 0);
  // A second answer would be in the input buffer now.
  await inner.waitFor({ input: true, timeoutMs });
  assert.equal((await inner.logs()).text.match(/\?\s+1\s+;\s+2\s+c/g)?.length, 1);
  assert.ok(!(await person.logs()).text.includes("\x1b[c"));
  await inner.write("\r");
  await ends(person);
});

test("reports rejected input on the terminal and accepts further input", async () => {
  const inner = await gateway.start({ command: "bash", args: SHELL, pty: true, env });
  await inner.waitFor({ input: true, timeoutMs });
  const person = await onTerminal(["attach", inner.id]);
  await shows(person, /ready>/, 0);
  await person.write("mkfs.ext4 /no/such/device\r");
  await shows(person, /input rejected: Blocked/);
  await person.sendKeys(["C-c"]);
  await shows(person, /\^C/);
  await inner.waitFor({ input: true, timeoutMs });
  await person.write("exit 4\r");
  await ends(person, 4);
});

test("a vim session survives its gateway, and the next gateway attaches to it", {
  skip: missing("vim"),
}, async () => {
  const file = fixture.path("survives.txt");
  // The gateway of this session is the process of the command line.
  const person = await onTerminal(["run", "-it", "--name", "editor", "--", "vim", "-n", "-i", "NONE", file]);
  await until("vim is running", () =>
    gateway.list({ live: true }).some(({ name, pty }) => name === "editor" && pty !== null),
  );
  const editor = gateway.session("editor");
  await editor.waitFor({ input: true, timeoutMs });
  await person.write("iwritten before the kill");
  await onScreen(editor, "written before the kill");
  await person.kill({ signal: "SIGKILL", graceMs: 0 });

  const next = await onTerminal(["attach", "editor"]);
  await shows(next, /written before the kill/, 0);
  await next.write(" and after");
  await onScreen(editor, "written before the kill and after");
  await next.sendKeys(["Escape"]);
  await next.write(":wq\r");
  await ends(next);
  assert.equal(readFileSync(file, "utf8"), "written before the kill and after\n");
});

test("send-keys types keys by name, literal text, or a paste", async () => {
  const inner = await gateway.start({ command: "cat", pty: true, name: "listener" });
  let said = "";
  for (const [line, ...args] of [
    ["a b", "listener", "a", "Space", "b", "Enter"],
    ["C-c is text here", "-l", "--enter", "listener", "C-c is text here"],
    ["pasted", "--paste", "--enter", "listener", "pasted"],
  ]) {
    await ends(await onTerminal(["send-keys", ...args]));
    // The terminal echoes the line, then cat prints it.
    said += `${line}\r\n${line}\r\n`;
    await until(`the log ends with ${line}`, async () => (await inner.logs()).text === said);
  }
  await ends(await onTerminal(["send-keys", "listener", "C-d"]));
  assert.equal((await inner.wait()).exitCode, 0);
});

test("send-keys rejects a session without a terminal", async () => {
  const inner = await gateway.start({ command: "sleep 60", name: "piped" });
  const wrong = await onTerminal(["send-keys", "piped", "Enter"]);
  await shows(wrong, /has no terminal/, 0);
  await ends(wrong, 125);
  await inner.kill({ graceMs: 0 });
});
