/** Commands that decide or grant, run by the shell of an agent host, by scripts, and on terminals. */
import assert from "node:assert/strict";
import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { readAttendance } from "../../../src/approval/attendance.ts";
import { readAncestry } from "../../../src/approval/self-approval.ts";
import type { Approval } from "../../../src/core/approval.ts";
import { operatorFolder } from "../../fixtures/operator-file.ts";
import { ENTRY, type Outcome, outcome, Sandbox } from "../../fixtures/sallyport.ts";
import { until } from "../../fixtures/until.ts";

const outside = readAncestry() === "none" && readAttendance().kind !== "host";
const skip = outside ? false : "these tests themselves run inside a session or below an agent host";

const box = new Sandbox();
const [strict, scripts, anywhere] = ["terminal", "script", "anywhere"].map((commandLine) =>
  operatorFolder({ approvals: { commandLine } }),
) as [string, string, string];
after(() => {
  for (const folder of [strict, scripts, anywhere]) rmSync(folder, { recursive: true, force: true });
  box.remove();
});
const SALLYPORT = `'${process.execPath}' '${ENTRY}'`;

/** A shell whose program has the name of an agent host. */
const claude = join(box.folder, "claude");
copyFileSync("/bin/bash", claude);
/** An interpreter, and the script of an agent host. */
const node = join(box.folder, "node");
copyFileSync("/bin/bash", node);
const gemini = join(box.folder, "gemini");
writeFileSync(gemini, 'eval "$1"; exit $?');

let count = 0;
async function pending(): Promise<string> {
  const command = `echo ${++count}`;
  await box.run(["run", "-d", "--sandbox", "off", "-c", command]);
  const all = JSON.parse((await box.run(["approvals", "--json"])).stdout) as Approval[];
  return all.find(({ request }) => request.command.text === command)?.id ?? "";
}

async function statusOf(id: string): Promise<string> {
  return (JSON.parse((await box.run(["approvals", id, "--json"])).stdout) as Approval).status;
}

/** Runs shell text without a terminal, or on one. */
async function shell(text: string, env: NodeJS.ProcessEnv = { XDG_CONFIG_HOME: strict }, terminal = false) {
  const { spawn } = await import("node:child_process");
  const all = { ...process.env, SALLYPORT_STATE: box.state, NO_COLOR: "1", SHELL: "/bin/bash", ...env };
  const [file, ...args] = terminal ? ["script", "-qec", text, "/dev/null"] : ["setsid", "-w", "bash", "-c", text];
  const child = spawn(file ?? "", args, { cwd: box.folder, env: all, stdio: "pipe", timeout: 60_000 });
  child.stdin?.end();
  return outcome(child);
}

const onTerminal = (text: string, env?: NodeJS.ProcessEnv) => shell(text, env, true);
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
const below = (host: string, text: string) => `${quoted(host)} -c ${quoted(`${text}; exit $?`)}`;
const all = ({ stdout, stderr }: Outcome) => stdout + stderr;

test("approve needs a terminal, deny does not", { skip }, async () => {
  const id = await pending();
  const refused = await shell(`${SALLYPORT} approve ${id}`);
  assert.equal(refused.code, 126);
  assert.match(refused.stderr, /Only a person can do this: this process has no terminal\./);
  assert.match(refused.stderr, /console, or in a terminal/);
  assert.equal(await statusOf(id), "pending");
  assert.equal((await shell(`${SALLYPORT} deny ${id}`)).code, 0);
  const other = await pending();
  assert.match((await onTerminal(`${SALLYPORT} approve ${other} | cat`)).stdout, /^Approved/);
});

test("the setting `approvals.commandLine` allows scripts, or also agent hosts", { skip }, async () => {
  const id = await pending();
  const approve = `${SALLYPORT} approve ${id}`;
  assert.equal((await shell(below(claude, approve), { XDG_CONFIG_HOME: scripts })).code, 126);
  assert.equal((await shell(approve, { XDG_CONFIG_HOME: scripts })).code, 0);
  const other = await pending();
  assert.equal((await shell(below(claude, `${SALLYPORT} approve ${other}`), { XDG_CONFIG_HOME: anywhere })).code, 0);
});

/** How the shell of a host may run a command on its terminal. HOST and VARIABLE are its marks. */
const ATTEMPTS: [name: string, text: (approve: string) => string][] = [
  ["directly", (approve) => below(claude, approve)],
  ["as a script of an interpreter", (approve) => `${node} ${gemini} ${quoted(approve)}`],
  ["with a variable of the host", (approve) => `CLAUDECODE=1 ${approve}`],
  ["with another host's variable", (approve) => `GEMINI_CLI=1 ${approve}`],
  [
    "without the variable",
    (approve) => `CODEX_SANDBOX=seatbelt bash -c ${quoted(`env -u CODEX_SANDBOX ${approve}; exit`)}`,
  ],
  ["without an environment", (approve) => below(claude, `env -i SALLYPORT_STATE=${box.state} ${approve}`)],
  ["in its own session", (approve) => below(claude, `setsid -w ${approve}`)],
  ["on its own terminal", (approve) => below(claude, `script -qec ${quoted(approve)} /dev/null`)],
  [
    "from a host that it has started itself, with another operator file",
    (approve) => below(claude, `XDG_CONFIG_HOME=${anywhere} GEMINI_CLI=1 ${below(claude, approve)}`),
  ],
  [
    "with a variable of a host and another operator file",
    (approve) => below(claude, `XDG_CONFIG_HOME=${anywhere} GEMINI_CLI=1 bash -c ${quoted(`${approve}; exit`)}`),
  ],
  ["with another operator file", (approve) => below(claude, `XDG_CONFIG_HOME=${anywhere} HOME=${anywhere} ${approve}`)],
];

for (const [name, text] of ATTEMPTS) {
  test(`an agent host cannot approve ${name}`, { skip }, async () => {
    const id = await pending();
    const line = text(`${SALLYPORT} approve ${id}`);
    const answer = await onTerminal(line);
    assert.match(all(answer), /Only a person can do this: .* has started this process \(/s, line);
    assert.doesNotMatch(all(answer), /commandLine/);
    assert.equal(await statusOf(id), "pending");
  });
}

/** Ways to leave the host's processes. */
const DETACHED: [name: string, text: (approve: string) => string][] = [
  ["in the background of the same terminal", (approve) => `( ${approve} > out 2>&1; touch done ) &`],
  ["in a session of its own", (approve) => `setsid -f sh -c ${quoted(`${approve} > out 2>&1; touch done`)}`],
  [
    "on a terminal of its own",
    (approve) => `setsid -f script -qc ${quoted(`${approve} > out 2>&1; touch done`)} /dev/null > typescript`,
  ],
];

for (const [name, text] of DETACHED) {
  test(`a process that has left an agent host cannot approve ${name}`, { skip }, async () => {
    const id = await pending();
    for (const file of ["out", "done", "go"]) rmSync(join(box.folder, file), { force: true });
    // The process starts its work when the host's shell has exited.
    const wait = `sh -c ${quoted(`until test -e go; do sleep 0.05; done; ${SALLYPORT} approve ${id}`)}`;
    await onTerminal(
      `${below(claude, `( ${text(wait)} ) & sleep 0.2`)}; touch go; until test -e done; do sleep 0.05; done`,
    );
    await until("the process is done", () => existsSync(join(box.folder, "done")));
    assert.match(readFileSync(join(box.folder, "out"), "utf8"), /Only a person can do this/);
    assert.equal(await statusOf(id), "pending");
  });
}

test("an agent host cannot grant, create tokens, print sign-in links or write the operator's file", {
  skip,
}, async () => {
  const commands = [
    "allow add -- ls",
    "token create chat --role approver",
    "token link",
    "fleet trust add other AAAA",
    "init --force",
  ];
  for (const command of commands) {
    const answer = await onTerminal(below(claude, `${SALLYPORT} ${command}`));
    assert.match(all(answer), /Only a person can do this: Claude Code has started/, command);
    if (command === "init --force") continue; // Scripts set machines up.
    assert.match(
      all(await shell(`${SALLYPORT} ${command}`)),
      /Only a person can do this: this process has no/,
      command,
    );
  }
  assert.equal((await box.run(["allow"])).stdout, "");
  assert.equal((await box.run(["token"])).stdout, "");
});

test("the service prints no sign-in link where no person reads it", { skip }, async () => {
  const child = box.spawn(["serve", "--listen", "0"], { env: { XDG_CONFIG_HOME: strict } });
  let printed = "";
  child.stderr?.on("data", (data) => {
    printed += data;
  });
  await until("the service listens", () => /Serving the console/.test(printed));
  assert.match(printed, /No sign-in link: .*no terminal\.\nPrint one in a terminal with `sallyport token link http/);
  assert.doesNotMatch(printed, /single use/);
  child.kill("SIGTERM");
  assert.equal((await outcome(child)).code, 0);
});

test("below an agent host, neither `run` nor the live list decides on a terminal", { skip }, async () => {
  const run = below(claude, `echo o | ${SALLYPORT} run --no-wait --sandbox off -c 'echo prompted'`);
  assert.match(all(await onTerminal(run)), /Approval required/);
  const prompted = below(claude, `timeout 3 ${SALLYPORT} run --sandbox off -c 'echo prompted'`);
  const answer = await onTerminal(prompted);
  assert.match(all(answer), /A person can decide in another terminal/);
  assert.doesNotMatch(all(answer), /Approve\?/);
});

test("an operation on a session that waits for approval says so, and where a person can decide", async () => {
  const folder = operatorFolder({ approvals: { commandLine: "anywhere" }, permissions: { kill: "ask" } });
  const env = { XDG_CONFIG_HOME: folder };
  await box.run(["run", "-d", "--name", "waits", "--", "sleep", "600"], { env });
  const child = box.spawn(["kill", "waits"], { env });
  let printed = "";
  child.stderr?.on("data", (data) => {
    printed += data;
  });
  await until("the note is printed", () => /A person can decide in another terminal/.test(printed));
  assert.doesNotMatch(printed, /[0-9a-f]{8}-[0-9a-f]{4}|sallyport approve /);
  child.kill("SIGKILL");
  await outcome(child);
  await box.run(["rm", "-f", "waits"]);
  rmSync(folder, { recursive: true, force: true });
});
