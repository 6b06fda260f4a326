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
const skip = spawnSync("script", ["--version"]).status === 0 ? inside : "the script program is not installed";

/** A terminal that shows the live list. */
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

  /** The text since the last redraw, which starts at the upper left corner. */
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

  /** Resolves when the program has ended and all its output has been received. */
  async ends(): Promise<void> {
    await this.#closed;
  }
}

const fixtures: ApprovalFixture[] = [];
const terminals: Terminal[] = [];
afterEach(async () => {
  await Promise.all(terminals.splice(0).map(({ child }) => killAndWait(child)));
});
after(() => {
  for (const fixture of fixtures) fixture.remove();
});

function scene(rows?: number) {
  const fixture = new ApprovalFixture();
  fixtures.push(fixture);
  const approvals = fixture.approvals();
  const ask = (command: string) => approvals.request(fixture.asked({ command })).id;
  const open = () => {
    const terminal = new Terminal(fixture.folder, rows);
    terminals.push(terminal);
    return terminal;
  };
  return { fixture, approvals, ask, open };
}

test("keys approve a request, deny one with a reason, and quit", { skip }, async () => {
  const { approvals, ask, open } = scene();
  const [first, second, third] = [ask("ls /one"), ask("ls /two"), ask("ls /three")];
  const terminal = open();
  await terminal.shows("3 pending requests");
  await terminal.shows("│ ls /one");
  terminal.press("j");
  await terminal.shows("│ ls /two");
  terminal.press("o");
  await terminal.shows("Request approved.");
  await terminal.shows("2 pending requests");
  await terminal.shows("│ ls /three");
  terminal.press("\x1b[A");
  await terminal.shows("│ ls /one");
  terminal.press("d");
  await terminal.shows("Reason to give to the agent");
  terminal.press("not q\x7fthat");
  await terminal.shows("not that");
  terminal.press("\r");
  await terminal.shows("Request denied.");
  terminal.press("q");
  await terminal.ends();
  const outcome = (id: string) => [approvals.get(id).status, approvals.get(id).reason];
  assert.deepEqual([first, second, third].map(outcome), [
    ["denied", "not that"],
    ["approved", null],
    ["pending", null],
  ]);
  assert.ok(terminal.received.trimEnd().endsWith("\x1b[?25h\x1b[?1049l"), "the terminal was not restored");
});

test("the `a` key shows the grant and asks for its duration, and Esc cancels", { skip }, async () => {
  const { approvals, ask, open, fixture } = scene();
  const id = ask("git fetch origin");
  const terminal = open();
  await terminal.shows("│ git fetch origin");
  terminal.press("a");
  await terminal.shows("For how long?");
  const flat = terminal.screen.replaceAll("\n", " ");
  assert.ok(flat.includes("This would allow /usr/bin/git fetch origin in"));
  terminal.press("soon\r");
  await terminal.shows("Not a duration.");
  terminal.press("\x1b");
  await terminal.shows("o once");
  assert.equal(approvals.get(id).status, "pending");
  terminal.press("a8h\r");
  await terminal.shows("No pending requests.");
  const [grant] = approvals.grants.list();
  assert.deepEqual([grant?.args, grant?.cwd], [{ kind: "exact", values: ["fetch", "origin"] }, fixture.workspace]);
  assert.ok(grant?.expiresAt);
  terminal.press("q");
  await terminal.ends();
});

test("rejects the `a` key for a command that cannot be approved permanently", { skip }, async () => {
  const { approvals, ask, open } = scene();
  const id = ask("make");
  const terminal = open();
  await terminal.shows("│ make");
  terminal.press("a");
  await terminal.shows("This command cannot be approved permanently: make runs code from project files.");
  assert.equal(approvals.get(id).status, "pending");
  terminal.press("\x03");
  await terminal.ends();
});

test("requires the whole command to have been visible before an approval", { skip }, async () => {
  const { approvals, ask, open } = scene(20);
  const id = ask(`echo ${"a".repeat(3000)}; rm -rf /srv`);
  const terminal = open();
  await terminal.shows("more lines below");
  terminal.press("o");
  await terminal.shows("The command continues below");
  assert.equal(approvals.get(id).status, "pending");
  while (!terminal.screen.includes("rm -rf /srv  (")) {
    const before = terminal.screen;
    terminal.press(" ");
    await until("the screen has scrolled", () => terminal.screen !== before);
  }
  terminal.press("o");
  await terminal.shows("No pending requests.");
  assert.equal(approvals.get(id).status, "approved");
});

test("a key never affects another request when the list changes", { skip }, async () => {
  const { approvals, ask, open } = scene();
  const first = ask("ls /first");
  const terminal = open();
  await terminal.shows("│ ls /first");
  const second = ask("ls /second");
  await terminal.shows("2 pending requests");
  await terminal.shows("│ ls /first");
  approvals.decide(first, { decision: "deny", who: "bob", channel: "cli" });
  await terminal.shows("decided elsewhere");
  terminal.press("o");
  terminal.press("d");
  terminal.press("j");
  await terminal.shows("│ ls /second");
  assert.equal(approvals.get(second).status, "pending", "the keys decided a request that was not selected");
  terminal.press("q");
  await terminal.ends();
});

test("shows only the keys that have an effect", { skip }, async () => {
  const { ask, open } = scene();
  ask("ls /named");
  const terminal = open();
  await terminal.shows("o once   a always   d deny");
  ask("make");
  await terminal.shows("2 pending requests");
  terminal.press("j");
  await terminal.shows("o once   d deny");
});
