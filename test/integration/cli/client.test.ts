import assert from "node:assert/strict";
import { type ChildProcess, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createConnection, createServer } from "node:net";
import { basename, join } from "node:path";
import { after, test } from "node:test";
import { IS_ROOT } from "../../fixtures/as-user.ts";
import { CLIENT, CLIENT_BUILD, ENTRY, outcome, Sandbox } from "../../fixtures/sallyport.ts";
import { until } from "../../fixtures/until.ts";

const box = new Sandbox("client");
after(() => box.remove());
/** A PATH without Node, on which a command line that the resident gateway does not answer fails. */
const bare = join(box.folder, "bare");
mkdirSync(bare);
const ALONE = { PATH: `${bare}:/bin/none` };
const NEEDS_NODE = /^sallyport: cannot run node: /;

/** Types of messages to the resident gateway, see native/client/protocol.h. */
const FROM_CLIENT = { request: 1, input: 2 };

function encode(type: number, payload: Buffer): Buffer {
  const header = Buffer.alloc(5);
  header.writeUInt32LE(1 + payload.length, 0);
  header[4] = type;
  return Buffer.concat([header, payload]);
}

/** Returns the names in the list that a source file assigns to a constant. */
function listIn(path: string, start: RegExp): string[] {
  const text = readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");
  const [, list = ""] = start.exec(text) ?? [];
  return list.split(",").map((name) => name.trim().replaceAll('"', ""));
}

/** Returns the processes that serve a state folder: they hold its lock. */
function residentsOf(state: string): number[] {
  return readdirSync("/proc").flatMap((name) => {
    const pid = Number(name);
    if (!Number.isInteger(pid)) return [];
    try {
      const isNode = readFileSync(`/proc/${pid}/comm`, "utf8").startsWith("sallyport: resi");
      return isNode && readlinkSync(`/proc/${pid}/fd/3`).startsWith(join(state, "resident-")) ? [pid] : [];
    } catch {
      return [];
    }
  });
}

async function killResident(of = box): Promise<void> {
  for (const pid of residentsOf(of.state)) process.kill(pid, "SIGKILL");
  await until("the resident gateway is gone", () => residentsOf(of.state).length === 0);
  for (const path of of.residents()) rmSync(path);
}

function shown(child: ChildProcess): () => string {
  let text = "";
  child.stdout?.on("data", (data: Buffer) => {
    text += data;
  });
  return () => text;
}

test("the client and the resident gateway have the same list of commands", () => {
  const ofClient = listIn("native/client/commands.h", /resident_commands\[\] = \{([^}]*)\}/);
  assert.deepEqual(ofClient, listIn("src/cli/resident/commands.ts", /RESIDENT_COMMANDS.* = \[([^\]]*)\]/));
  assert.ok(ofClient.includes("run"));
});

test("answers without starting Node", async () => {
  const run = await box.run(["run", "-c", "echo out; echo err >&2; exit 3"], { env: ALONE });
  assert.deepEqual([run.stdout, run.stderr, run.code], ["out\n", "err\n", 3]);
  const missing = await box.run(["run", "--", "no-such-program"], { env: ALONE });
  assert.match(missing.stderr, /Command not found: no-such-program/);
  assert.equal(missing.code, 127);
  const timeout = await box.run(["run", "--timeout", "100ms", "--", "/bin/sleep", "60"], { env: ALONE });
  assert.match(timeout.stderr, /timed out after 100ms/);
  assert.equal(timeout.code, 124);
  const blocked = await box.run(["run", "-c", "shutdown now"], { env: ALONE });
  assert.equal(blocked.code, 126);
  const input = "x".repeat(300_000);
  const fed = await box.run(["run", "-i", "--", "/bin/cat"], { env: ALONE, input });
  assert.equal(fed.stdout, input);
  const check = await box.run(["check", "-c", "shutdown now"], { env: ALONE });
  assert.match(check.stdout, /^blocked/);
  assert.equal(check.code, 126);
});

test("answers hooks and runs the shell of agent hosts without starting Node", async () => {
  const cwd = join(box.folder, "project");
  mkdirSync(cwd);
  const event = { tool_name: "Bash", tool_input: { command: "ls" }, cwd, hook_event_name: "PreToolUse" };
  const input = JSON.stringify({ ...event, session_id: "s", tool_use_id: "t" });
  const answered = await box.run(["hook", "claude-code"], { env: ALONE, input, cwd });
  assert.match(answered.stdout, /updatedInput/, answered.stderr);
  assert.equal(answered.code, 0);
  const denied = await box.run(["hook", "claude-code"], { env: ALONE, input: "no event" });
  assert.match(denied.stdout + denied.stderr, /the event is not JSON/);
  const env = { ...ALONE, SALLYPORT_STATE: box.state };
  const unread = spawnSync(CLIENT, ["hook", "claude-code"], { env, input, cwd, stdio: ["pipe", "ignore", "pipe"] });
  assert.match(String(unread.stderr), /cannot write to stdout: it is closed, or \/dev\/null/);
  assert.equal(unread.status, 2);
  const shell = await box.run(["--agent", "builder", "sh", "-c", "read line; echo $line; exit 4"], {
    env: { ...ALONE, SALLYPORT_WORKSPACE: cwd },
    cwd,
    input: "typed\n",
  });
  assert.deepEqual([shell.stdout, shell.code], ["typed\n", 4]);
});

test("runs what a hook has answered once, without starting Node", async () => {
  const cwd = join(box.folder, "hooked");
  mkdirSync(cwd);
  const command = "echo run >> runs; /bin/cat runs; exit 3";
  const event = { tool_name: "Bash", tool_input: { command }, cwd, hook_event_name: "PreToolUse" };
  const input = JSON.stringify({ ...event, session_id: "s", tool_use_id: "t" });
  const answered = await box.run(["hook", "codex"], { env: ALONE, input, cwd });
  const [, call = ""] = /(--sallyport-call=[0-9a-f]+)/.exec(answered.stdout) ?? [];
  const other = await box.run(["sh", call, "-c", "echo other"], { env: ALONE, cwd });
  assert.match(other.stderr, /not the command that the hook/);
  assert.equal(other.code, 126);
  const second = await box.run(["hook", "codex"], { env: ALONE, input, cwd });
  const [, valid = ""] = /(--sallyport-call=[0-9a-f]+)/.exec(second.stdout) ?? [];
  const line = ["sh", valid, "-c", command];
  const [one, two] = await Promise.all([1, 2].map(() => box.run(line, { env: ALONE, cwd })));
  assert.deepEqual([one?.code, two?.code].sort(), [126, 3]);
  assert.equal((one?.stdout ?? "") + (two?.stdout ?? ""), "run\n");
  const kept = readdirSync(join(box.state, "hosts"));
  for (const id of [call, valid]) assert.ok(!kept.some((name) => id.endsWith(name.split(".", 1)[0] as string)), id);
});

test("filters output on a terminal, and starts commands in the background, without starting Node", async () => {
  const text = String.raw`printf 'a\033[31mred\033]52;c;aGk=\007\n'; exit 3`;
  // A terminal of `script`, which is found on PATH, without Node for the client.
  const onTerminal = (args: string[], columns = 80) =>
    box.terminal(args, { columns, shellBefore: `export PATH='${ALONE.PATH}';` });
  const shown = await onTerminal(["run", "-c", text]);
  assert.ok(shown.stdout.startsWith("a\x1b[31mred"), shown.stdout);
  assert.match(shown.stdout, /\\e\]52;c;aGk=/);
  assert.ok(!shown.stdout.includes("\x1b]52"));
  assert.equal(shown.code, 3);
  const own = await onTerminal(["run", "-t", "-c", "/bin/stty size; exit 4"], 91);
  assert.match(own.stdout, /24 91/);
  assert.equal(own.code, 4);
  const piped = await box.run(["run", "-t", "-c", "/usr/bin/tty; exit 5"], { env: ALONE });
  assert.match(piped.stdout, /^\/dev\/pts\/\d+\r\n$/);
  const detached = await box.run(["run", "-d", "-c", "echo out; exit 6"], { env: ALONE });
  assert.deepEqual([detached.code, detached.stderr], [0, ""]);
  assert.equal((await box.run(["wait", detached.stdout.trim()])).code, 6);
  const blocked = await box.run(["run", "-d", "-c", "shutdown now"], { env: ALONE });
  assert.equal(blocked.code, 126);
  const asked = await box.run(["run", "-d", "--sandbox", "off", "--", "/bin/true"], { env: ALONE });
  assert.match(asked.stderr, /approv/);
  assert.equal(asked.code, 126);
});

test("runs everything else with Node, before anything is recorded", async () => {
  const lines = [
    ["ps"],
    ["run", "--help"],
    ["run", "--no-such-option"],
    ["run", "--json", "--", "/bin/true"],
    ["run", "--sandbox", "off", "--", "/bin/true"], // requires an approval
    ["--state", join(box.folder, "other-state"), "run", "--", "/bin/true"],
  ];
  const before = (await box.run(["ps", "-a", "-q"])).stdout;
  for (const line of lines) assert.match((await box.run(line, { env: ALONE })).stderr, NEEDS_NODE, line.join(" "));
  const own = await box.run(["run", "--", "/bin/true"], { env: { ...ALONE, SALLYPORT_DEBUG: "1" } });
  assert.match(own.stderr, NEEDS_NODE);
  const invalid = await box.run(["run", "--", "/bin/true"], { env: { ...ALONE, SALLYPORT_RESIDENT: "off" } });
  assert.match(invalid.stderr, NEEDS_NODE);
  assert.equal((await box.run(["ps", "-a", "-q"])).stdout, before);
});

test("uses the environment, working directory and umask of each client only", async () => {
  const folder = join(box.folder, "other");
  mkdirSync(folder);
  const line = ["run", "-e", "MARK", "-c", 'echo "$MARK $PWD"; umask'];
  const print = (mark: string, cwd: string) => box.run(line, { env: { ...ALONE, MARK: mark }, cwd });
  const [first, second] = await Promise.all([print("one", box.folder), print("two", folder)]);
  assert.match(first.stdout, new RegExp(`^one ${box.folder}\\n`));
  assert.match(second.stdout, new RegExp(`^two ${folder}\\n`));
  const unset = await box.run(line, { env: ALONE });
  assert.match(unset.stderr, /variable `MARK` is not set/);
  const masked = spawnSync("/bin/sh", ["-c", `umask 027; exec ${CLIENT} run -c umask`], {
    cwd: box.folder,
    env: { ...ALONE, SALLYPORT_STATE: box.state, HOME: box.folder },
    encoding: "utf8",
  });
  assert.equal(masked.stdout, "0027\n");
});

test("applies a changed configuration to the next command", async () => {
  const folder = join(box.folder, "configured");
  mkdirSync(folder);
  const run = () => box.run(["run", "--", "/bin/true"], { env: ALONE, cwd: folder });
  assert.equal((await run()).code, 0);
  const path = join(folder, "sallyport.json");
  writeFileSync(path, JSON.stringify({ security: "deny" }));
  assert.equal((await run()).code, 126);
  writeFileSync(path, "{ no json");
  assert.match((await run()).stderr, /sallyport\.json/);
  writeFileSync(path, "{}");
  assert.equal((await run()).code, 0);
});

test("ignores bytes that no client sends", async () => {
  const [path = ""] = box.residents();
  const noise = [
    Buffer.alloc(100, 0xff),
    Buffer.from("GET / HTTP/1.1\r\n\r\n"),
    encode(FROM_CLIENT.request, Buffer.alloc(3)),
    encode(FROM_CLIENT.request, Buffer.alloc(5000, 0)),
    encode(FROM_CLIENT.request, Buffer.alloc(5000, 0xff)),
    encode(FROM_CLIENT.input, Buffer.from("early")),
    encode(99, Buffer.alloc(1)),
    Buffer.from([0, 0, 0, 0, 1]),
    Buffer.from([0xff, 0xff, 0xff, 0x7f, 1]),
  ];
  for (const bytes of noise) {
    const socket = createConnection(path).on("error", () => {});
    socket.resume();
    socket.write(bytes);
    await once(socket, "close");
  }
  assert.equal((await box.run(["run", "--", "/bin/true"], { env: ALONE })).code, 0);
});

test("serves no process that claims to be another one", async () => {
  const [path = ""] = box.residents();
  const socket = createConnection(path).on("error", () => {});
  const answers: Buffer[] = [];
  socket.on("data", (data: Buffer) => answers.push(data));
  await once(socket, "data");
  const header = Buffer.alloc(21);
  header.writeUInt32LE(process.ppid, 0);
  header.writeUInt32LE(3, 13);
  const line = [box.folder, "run", "--", "/bin/true"].map((word) => `${word}\0`).join("");
  socket.write(encode(FROM_CLIENT.request, Buffer.concat([header, Buffer.from(line)])));
  await once(socket, "close");
  const all = Buffer.concat(answers);
  assert.deepEqual([...all.subarray(-5)], [1, 0, 0, 0, 2]); // use Node
});

test("does not talk to a process that listens in place of a resident gateway", async () => {
  const folder = join(box.folder, "forged");
  mkdirSync(folder, { mode: 0o700 });
  const [name = ""] = box.residents().map((path) => basename(path));
  const server = createServer((socket) => socket.on("error", () => {}).end(encode(7, Buffer.from("\0\0")))).listen(
    join(folder, name),
  );
  await once(server, "listening");
  const { stderr } = await box.run(["check", "--", "true"], { env: { ...ALONE, SALLYPORT_STATE: folder } });
  server.close();
  assert.match(stderr, NEEDS_NODE);
});

test("a sandboxed command cannot reach the socket", async () => {
  const [path = ""] = box.residents();
  const script = `require("net").connect(${JSON.stringify(path)}).on("connect", () => console.log("connected"))
    .on("error", ({ code }) => console.log(code))`;
  const { stdout } = await box.run(["run", "--", process.execPath, "-e", script]);
  assert.match(stdout, /^E(NOENT|ACCES|PERM|CONNREFUSED)\n$/);
  const nested = await box.run(["run", "--", CLIENT, "run", "--", "/bin/echo", "nested"]);
  assert.doesNotMatch(nested.stdout, /nested/);
});

test("a client that is killed leaves its command running, and its end is recorded", async () => {
  const child = box.spawn(["run", "--name", "orphan", "-c", "echo ready; /bin/sleep 1; exit 5"], { env: ALONE });
  const text = shown(child);
  await until("the command prints", () => text() !== "");
  child.kill("SIGKILL");
  await once(child, "close");
  assert.equal((await box.run(["wait", "orphan"])).code, 5);
});

test("a command of the shell of an agent host ends with its client", async () => {
  const cwd = join(box.folder, "killed");
  mkdirSync(cwd);
  const env = { ...ALONE, SALLYPORT_WORKSPACE: cwd };
  const child = box.spawn(["sh", "-c", "echo ready; exec /bin/sleep 600"], { cwd, env });
  const text = shown(child);
  await until("the command prints", () => text() !== "");
  child.kill("SIGKILL");
  await once(child, "close");
  const running = async () => (await box.run(["ps", "-q"])).stdout;
  await until("the command has ended", async () => (await running()) === "");
});

test("continues without the resident gateway when that is killed", async () => {
  const line = ["run", "--name", "survivor", "-c", "echo one; sleep 1; echo two; echo three >&2; exit 7"];
  const child = box.spawn(line);
  const ended = outcome(child);
  const text = shown(child);
  await until("the command prints", () => text() !== "");
  await killResident();
  const { stdout, stderr, code } = await ended;
  assert.deepEqual([stdout, stderr, code], ["one\ntwo\n", "three\n", 7]);
  const audit = await box.run(["audit", "--json", "search", "survivor"]).catch(() => null);
  assert.ok(audit);
  assert.match((await box.run(["inspect", "survivor"])).stdout, /7/);
  // The shell of agent hosts runs its command once, too.
  const cwd = join(box.folder, "shell");
  mkdirSync(cwd);
  box.startResident();
  const shell = box.spawn(["sh", "-c", "echo x >> runs; echo one; sleep 1; echo two; exit 6"], {
    cwd,
    env: { SALLYPORT_WORKSPACE: cwd },
  });
  const done = outcome(shell);
  const printed = shown(shell);
  await until("the shell prints", () => printed() !== "");
  await killResident();
  const after = await done;
  assert.deepEqual([after.stdout, after.code], ["one\ntwo\n", 6]);
  assert.equal(readFileSync(join(cwd, "runs"), "utf8"), "x\n");
});

test("continues on a terminal without the resident gateway when that is killed", async () => {
  box.startResident();
  const { child, shows } = box.onTerminal(["run", "-c", "echo one; sleep 2; echo two; exit 7"]);
  const ended = outcome(child);
  await until("the command prints", () => shows().includes("one"));
  await killResident();
  const { stdout, code } = await ended;
  assert.deepEqual([stdout, code], ["one\ntwo\n", 7]);
});

/** Copies the client into a package with its script, and records a path of Node. */
function packageWith(name: string, record: string | null): string {
  const folder = join(box.operator, name);
  mkdirSync(join(folder, "native/build"), { recursive: true });
  mkdirSync(join(folder, "bin"));
  copyFileSync(CLIENT, join(folder, "bin/sallyport.cjs"));
  symlinkSync(ENTRY, join(folder, "bin/sallyport.js"));
  if (record !== null) writeFileSync(join(folder, "native/build/node-path"), `${record}\n`);
  return join(folder, "bin/sallyport.cjs");
}

/** Creates a program `node` and returns its folder. */
function nodeScript(folder: string, text: string): string {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "node"), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  return folder;
}

test("runs the Node that was recorded at installation, otherwise one that no command can replace", () => {
  const work = join(box.folder, "node-work");
  mkdirSync(work);
  const version = (program: string, path: string) => {
    const env = { PATH: path, HOME: box.folder, SALLYPORT_STATE: box.state };
    const { stdout, stderr, status } = spawnSync(program, ["--version"], { cwd: work, env, encoding: "utf8" });
    return { stdout, stderr, status };
  };
  const forged = nodeScript(join(work, "bin"), `echo forged`);
  const own = `${join(process.execPath, "..")}`;
  assert.match(version(packageWith("recorded", process.execPath), forged).stdout, /^\d+\.\d+\.\d+\n$/);
  const removed = packageWith("removed", "/opt/removed/node");
  assert.match(version(removed, own).stdout, /^\d+\.\d+\.\d+\n$/);
  const shared = nodeScript(join(box.operator, "shared"), "echo forged");
  chmodSync(shared, 0o777);
  const linked = join(box.operator, "linked");
  mkdirSync(linked);
  symlinkSync(join(forged, "node"), join(linked, "node"));
  for (const folder of [forged, shared, linked, "", "bin"]) {
    const { stdout, stderr, status } = version(removed, `${folder}:${own}`);
    // An empty entry is the working directory, which has no `node`.
    if (folder === "") assert.equal(status, 0);
    else assert.deepEqual([stdout, status], ["", 126], folder);
    if (folder !== "")
      assert.match(stderr, /^sallyport: cannot run node: commands or other users could replace [^\n]*\n$/);
  }
  const loop = nodeScript(join(box.operator, "loop"), `exec '${removed}' --version`);
  const started = version(removed, loop);
  assert.match(started.stderr, /^sallyport: cannot run node: [^\n]* starts sallyport instead of Node[^\n]*\n$/);
  assert.equal(started.status, 125);
  assert.match(version(removed, "/bin/none").stderr, /^sallyport: cannot run node: it is not on PATH[^\n]*\n$/);
});

test("clients that start at the same time start one resident gateway", async () => {
  await killResident();
  const outcomes = await Promise.all([1, 2, 3, 4].map(() => box.run(["run", "--", "/bin/echo", "hi"])));
  assert.deepEqual(
    outcomes.map(({ stdout }) => stdout),
    ["hi\n", "hi\n", "hi\n", "hi\n"],
  );
  await until("it answers", async () => (await box.run(["run", "--", "/bin/true"], { env: ALONE })).code === 0);
  assert.equal(residentsOf(box.state).length, 1);
});

test("a client of another build starts a resident gateway of its own", async () => {
  const other = join(box.folder, "other-client");
  const bytes = readFileSync(CLIENT).toString("latin1").replaceAll(CLIENT_BUILD, "0123456789ab");
  writeFileSync(other, Buffer.from(bytes, "latin1"));
  chmodSync(other, 0o755);
  const env = { ...process.env, SALLYPORT_STATE: box.state, ...ALONE };
  // Its script is not beside it, so it could only be answered by the resident gateway of the first build.
  const { stderr, status } = spawnSync(other, ["run", "--", "/bin/true"], { cwd: box.folder, env, encoding: "utf8" });
  assert.match(stderr, /bin\/sallyport\.js is missing/);
  assert.equal(status, 125);
});

test("exits when it is idle, and when its socket is removed", async () => {
  const idle = new Sandbox("node");
  try {
    idle.startResident({ SALLYPORT_RESIDENT_IDLE: "300" });
    await until("it has exited", () => residentsOf(idle.state).length === 0 && idle.residents().length === 0);
    idle.startResident({ SALLYPORT_RESIDENT_IDLE: "5000" });
  } finally {
    idle.remove();
  }
  await until("it has exited", () => residentsOf(idle.state).length === 0);
});

test("has the result of Node when the state folder cannot be used", async () => {
  const file = join(box.folder, "a-file");
  writeFileSync(file, "");
  const compare = (state: string, uid?: number) => {
    const env = { ...process.env, SALLYPORT_STATE: state, PATH: `${join(process.execPath, "..")}:${process.env.PATH}` };
    const options = { cwd: "/", env, encoding: "utf8", ...(uid ? { uid, gid: uid } : {}) } as const;
    const results = [
      spawnSync(process.execPath, [ENTRY, "run", "--", "/bin/true"], options),
      spawnSync(CLIENT, ["run", "--", "/bin/true"], options),
    ].map(({ stdout, stderr, status }) => ({ stdout, stderr, status }));
    assert.deepEqual(results[1], results[0]);
    assert.notEqual(results[0]?.status, 0);
  };
  compare("/proc/none");
  compare(file);
  // Another user cannot connect to the socket.
  if (IS_ROOT && existsSync(ENTRY)) compare(box.state, 65_534);
});
