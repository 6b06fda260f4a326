import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { after, afterEach, test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { readAncestry } from "../../../src/approval/self-approval.ts";
import { ApprovalFixture } from "../../fixtures/approvals.ts";
import { killAndWait } from "../../fixtures/processes.ts";
import { ENTRY } from "../../fixtures/sallyport.ts";
import { until } from "../../fixtures/until.ts";

const inside = readAncestry() === "none" ? false : "these tests themselves run inside a session";
const skip = spawnSync("script", ["--version"]).status === 0 ? inside : "script, which gives a terminal, is not here";

/** A real terminal with the live list on it. */
class Terminal {
  readonly child: ChildProcess;
  readonly #closed: Promise<unknown>;
  #received = "";

  constructor(state: string, rows = 24) {
    const line = `stty cols 80 rows ${rows}; exec ${process.execPath} ${ENTRY} approvals --state ${state}`;
    const env = { ...process.env, TERM: "xterm-256color", NO_COLOR: "1" };
    this.child = spawn("script", ["-qec", line, "/dev/null"], { env, stdio: "pipe" });
    this.#closed = once(this.child, "close");
    this.child.stdout?.on("data", (chunk: Buffer) => {
      this.#received += chunk.toString();
    });
  }

  /** Every redraw starts at the upper left corner. */
  get screen(): string {
    return stripVTControlCharacters(this.#received.slice(this.#received.lastIndexOf("\x1b[H"))).replaceAll("\r", "");
  }

  get received(): string {
    return this.#received;
  }

  async shows(text: string | RegExp): Promise<void> {
    const there = () => (typeof text === "string" ? this.screen.includes(text) : text.test(this.screen));
    await until(`the screen shows ${text}`, there).catch((error: Error) => {
      throw new Error(`${error.message}; it shows:\n${this.screen}`);
    });
  }

  press(keys: string): void {
    this.child.stdin?.write(keys);
  }

  /** And all that it showed is here. */
  async ends(): Promise<void> {
    await this.#closed;
  }
}

const rooms: ApprovalFixture[] = [];
const terminals: Terminal[] = [];
afterEach(async () => {
  await Promise.all(terminals.splice(0).map(({ child }) => killAndWait(child)));
});
after(() => {
  for (const room of rooms) room.remove();
});

function scene(rows?: number) {
  const room = new ApprovalFixture();
  rooms.push(room);
  const approvals = room.approvals();
  const ask = (command: string) => approvals.request(room.asked({ command })).id;
  const open = () => {
    const terminal = new Terminal(room.folder, rows);
    terminals.push(terminal);
    return terminal;
  };
  return { room, approvals, ask, open };
}

test("once, deny with a reason, quit: by keys on a real terminal", { skip }, async () => {
  const { approvals, ask, open } = scene();
  const [first, second, third] = [ask("ls /one"), ask("ls /two"), ask("ls /three")];
  const terminal = open();
  await terminal.shows("3 waiting for a decision");
  await terminal.shows("│ ls /one");
  terminal.press("j");
  await terminal.shows("│ ls /two");
  terminal.press("o");
  await terminal.shows("It is approved.");
  await terminal.shows("2 waiting for a decision");
  await terminal.shows("│ ls /three");
  terminal.press("\x1b[A");
  await terminal.shows("│ ls /one");
  terminal.press("d");
  await terminal.shows("Reason for the agent");
  terminal.press("not q\x7fthat");
  await terminal.shows("not that");
  terminal.press("\r");
  await terminal.shows("It is denied.");
  terminal.press("q");
  await terminal.ends();
  const outcome = (id: string) => [approvals.get(id).status, approvals.get(id).reason];
  assert.deepEqual([first, second, third].map(outcome), [
    ["denied", "not that"],
    ["approved", null],
    ["pending", null],
  ]);
  assert.ok(terminal.received.trimEnd().endsWith("\x1b[?25h\x1b[?1049l"), "the terminal is left as it was");
});

test("always shows what it would allow and asks for how long; esc goes back", { skip }, async () => {
  const { approvals, ask, open, room } = scene();
  const id = ask("git fetch origin");
  const terminal = open();
  await terminal.shows("│ git fetch origin");
  terminal.press("a");
  await terminal.shows("For how long?");
  const flat = terminal.screen.replaceAll("\n", " ");
  assert.ok(flat.includes("This would allow /usr/bin/git fetch origin in"));
  terminal.press("soon\r");
  await terminal.shows("A duration such as");
  terminal.press("\x1b");
  await terminal.shows("o once");
  assert.equal(approvals.get(id).status, "pending");
  terminal.press("a8h\r");
  await terminal.shows("Nothing waits for a decision.");
  const [grant] = approvals.grants.list();
  assert.deepEqual([grant?.args, grant?.cwd], [{ kind: "exact", values: ["fetch", "origin"] }, room.workspace]);
  assert.ok(grant?.expiresAt);
  terminal.press("q");
  await terminal.ends();
});

test("what can only be allowed once is not offered for good", { skip }, async () => {
  const { approvals, ask, open } = scene();
  const id = ask("make");
  const terminal = open();
  await terminal.shows("│ make");
  terminal.press("a");
  await terminal.shows("Only once: make runs code from project files.");
  assert.equal(approvals.get(id).status, "pending");
  terminal.press("\x03");
  await terminal.ends();
});

test("nobody says yes to a command whose end was not on the screen", { skip }, async () => {
  const { approvals, ask, open } = scene(20);
  const id = ask(`echo ${"a".repeat(3000)}; rm -rf /srv`);
  const terminal = open();
  await terminal.shows("more lines below");
  terminal.press("o");
  await terminal.shows("The command goes on below");
  assert.equal(approvals.get(id).status, "pending");
  while (!terminal.screen.includes("rm -rf /srv  (")) {
    const before = terminal.screen;
    terminal.press(" ");
    await until("the screen moves", () => terminal.screen !== before);
  }
  terminal.press("o");
  await terminal.shows("Nothing waits for a decision.");
  assert.equal(approvals.get(id).status, "approved");
});

test("requests come and go while one looks; a key never hits another one", { skip }, async () => {
  const { approvals, ask, open } = scene();
  const first = ask("ls /first");
  const terminal = open();
  await terminal.shows("│ ls /first");
  const second = ask("ls /second");
  await terminal.shows("2 waiting for a decision");
  await terminal.shows("│ ls /first");
  approvals.decide(first, { decision: "deny", who: "bob", channel: "cli" });
  await terminal.shows("decided elsewhere");
  terminal.press("o");
  terminal.press("d");
  terminal.press("j");
  await terminal.shows("│ ls /second");
  assert.equal(approvals.get(second).status, "pending", "the keys before it had nothing to act on");
  terminal.press("q");
  await terminal.ends();
});

test("only keys that would do something are named", { skip }, async () => {
  const { ask, open } = scene();
  ask("ls /named");
  const terminal = open();
  await terminal.shows("o once   a always   d deny");
  ask("make");
  await terminal.shows("2 waiting for a decision");
  terminal.press("j");
  await terminal.shows("o once   d deny");
});
