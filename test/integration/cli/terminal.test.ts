import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { displayWidth } from "../../../src/text/width.ts";
import { Sandbox } from "../../fixtures/sallyport.ts";
import { until } from "../../fixtures/until.ts";

const plain = (text: string) => stripVTControlCharacters(text).replaceAll("\r", "");
const box = new Sandbox();
after(async () => {
  await box.run(["kill", "-s", "KILL", "first"]);
  box.remove();
});

before(async () => {
  await box.run(["run", "-d", "--name", "first", "-c", `sleep 300 # ${"漢字 and more ".repeat(20)}`]);
  await box.run(["run", "--name", "second", "-c", "printf '\\e[31m' >/dev/null\n\texit 3"]);
});

test("ps prints a table that fits the terminal", async () => {
  for (const columns of [80, 160]) {
    const { stdout } = await box.terminal(["ps", "-a"], { columns, env: { NO_COLOR: "1" } });
    const [title, second, first] = stdout.trimEnd().split("\n");
    assert.match(
      title ?? "",
      columns < 100 ? /^ID +NAME +STATUS +EXIT +AGE +COMMAND$/ : /^ID +NAME +STATUS +EXIT +AGE +TOOK +COMMAND$/,
    );
    assert.match(second ?? "", /^[0-9a-f]{8}-[0-9a-f]{4} +second +completed +3 .* printf '\\e\[31m'/);
    assert.match(first ?? "", /^[0-9a-f]{8}-[0-9a-f]{4} +first +running +- .*…$/);
    for (const line of stdout.trimEnd().split("\n")) assert.ok(displayWidth(line) <= columns, line);
  }
});

test("uses color on terminals unless NO_COLOR is set, and FORCE_COLOR overrides both", async () => {
  const green = "\x1b[32mrunning";
  const onTerminal = async (env: NodeJS.ProcessEnv) => (await box.terminal(["ps"], { env })).stdout;
  for (const env of [{}, { NO_COLOR: "" }]) assert.ok((await onTerminal(env)).includes(green), JSON.stringify(env));
  for (const env of [{ NO_COLOR: "1" }, { TERM: "dumb" }, { FORCE_COLOR: "0" }]) {
    assert.ok(!(await onTerminal(env)).includes("\x1b"), JSON.stringify(env));
  }
  assert.ok(!(await box.run(["ps"])).stdout.includes("\x1b"));
  assert.ok((await box.run(["check", "ls"], { env: { FORCE_COLOR: "1", NO_COLOR: "1" } })).stdout.includes("\x1b[32m"));
});

test("an empty list prints a message", async () => {
  const { stdout } = await box.terminal(["--state", `${box.folder}/other`, "ps"]);
  assert.equal(stdout, "No running sessions. Use `sallyport ps -a` to show finished sessions.\n");
});

test("inspect aligns pairs and cuts nothing", async () => {
  const { stdout } = await box.terminal(["inspect", "first"]);
  assert.match(stdout, /^status +running$/m);
  assert.match(stdout, /^command +sleep 300 # 漢字/m);
  assert.equal(stdout.match(/漢字/g)?.length, 20);
});

test("indents JSON on a terminal", async () => {
  const { stdout } = await box.terminal(["inspect", "--json", "second"]);
  assert.match(stdout, /^\{\n {2}"id": "/);
});

test("stats runs until the session ends, and leaves the last measurement on the screen", async () => {
  const go = join(box.folder, "go");
  await box.run(["run", "-d", "--name", "brief", "-c", `until test -e ${go}; do sleep 0.05; done`]);
  const { child, shows } = box.onTerminal(["stats", "brief"], { env: { NO_COLOR: "1" } });
  await until("the session is on the screen", () => /\nNAME +STATUS +CPU +TIME.*\nbrief +running/.test(plain(shows())));
  writeFileSync(go, "");
  const [code] = await once(child, "close");
  assert.equal(code, 0);
  const after = shows().slice(shows().lastIndexOf("\x1b[?1049l"));
  assert.match(plain(after), /^NAME +STATUS.*\nbrief +completed/);
});

test("stats --watch sorts by keys, stays open without sessions, and restores the terminal", async () => {
  const state = join(box.folder, "watched");
  const { child, shows } = box.onTerminal(["--state", state, "stats", "--watch"], { env: { NO_COLOR: "1" } });
  const frame = () => plain(shows().slice(shows().lastIndexOf("\x1b[H")));
  await until("the message appears", () => frame().includes("No running sessions."));
  for (const name of ["bee", "ant"])
    await box.run(["--state", state, "run", "-d", "--name", name, "--", "sleep", "300"]);
  await until("both sessions are on the screen", () => /2 sessions, 2 processes: CPU/.test(frame()));
  child.stdin?.write("n");
  await until("the sessions are sorted by name", () => /ant +running.*bee +running.*\[n name\]/s.test(frame()));
  await box.run(["--state", state, "kill", "-s", "KILL", "ant", "bee"]);
  await until("no session is on the screen", () => frame().includes("No running sessions."));
  child.stdin?.write("q");
  assert.deepEqual((await once(child, "close"))[0], 0);
  assert.ok(shows().endsWith("\x1b[?25h\x1b[?1049l"));
});

test("rejects stats --watch without a terminal, or with --json or --once", async () => {
  for (const args of [
    ["stats", "--watch"],
    ["stats", "--watch", "--json"],
    ["stats", "-w", "--once"],
  ]) {
    const { code, stderr } = await box.run(args);
    assert.equal(code, 125);
    assert.match(stderr, /`--watch` (requires a terminal|cannot be used with `--(json|once)`)/);
  }
});

test("run and logs show escape sequences on a terminal instead of passing them on, unless --raw is given", async () => {
  const text = "printf 'a\\033]52;c;ZXZpbA==\\007\\033[2J\\033[31mred\\033[0m\\rb\\n'; printf '\\033]0;x\\007' >&2";
  const raw = "a\x1b]52;c;ZXZpbA==\x07\x1b[2J\x1b[31mred\x1b[0m\rb\n";
  const shown = "a\\e]52;c;ZXZpbA==\\x07\\e[2J\x1b[31mred\x1b[0m\nb\n";
  const ran = await box.terminal(["run", "--name", "escapes", "-c", text]);
  assert.ok(ran.stdout.includes(shown), JSON.stringify(ran.stdout));
  assert.ok(ran.stdout.includes("\\e]0;x\\x07"), "stderr");
  assert.ok(!ran.stdout.includes("\x1b]"), "no string sequence reaches the terminal");
  const logs = await box.terminal(["logs", "escapes"]);
  assert.ok(logs.stdout.includes(shown) && !logs.stdout.includes("\x1b]"), JSON.stringify(logs.stdout));
  assert.ok((await box.terminal(["logs", "--times", "escapes"])).stdout.includes("\\e[2J"));
  assert.ok((await box.terminal(["run", "--raw", "-c", text])).stdout.includes(raw));
  assert.ok((await box.terminal(["logs", "--raw", "escapes"])).stdout.includes(raw));
  assert.equal((await box.run(["logs", "--stream", "stdout", "escapes"])).stdout, raw, "a pipe gets every byte");
});

test("run -t passes on what draws on the screen, but not the title or the clipboard", async () => {
  const text = "printf '\\033]52;c;ZXZpbA==\\007\\033]0;title\\007\\033[2Jdrawn'";
  const filtered = await box.terminal(["run", "-t", "-c", text]);
  assert.ok(filtered.stdout.includes("\x1b[2Jdrawn"), JSON.stringify(filtered.stdout));
  assert.ok(!filtered.stdout.includes("\x1b]"), JSON.stringify(filtered.stdout));
  assert.ok((await box.terminal(["run", "-t", "--raw", "-c", text])).stdout.includes("\x1b]52;c;ZXZpbA=="));
});
