import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { after, test } from "node:test";
import { type Connected, McpFixture } from "../../fixtures/mcp.ts";
import { until } from "../../fixtures/until.ts";

const fixture = new McpFixture({ toolsets: { exec: true }, permissions: { run: "autonomous", kill: "autonomous" } });
after(() => fixture.close());

// biome-ignore lint/suspicious/noExplicitAny: the fields of a result depend on its tool
type Structured = Record<string, any>;
interface Answer {
  text: string;
  data: Structured;
}

const clients = new Map<string, Promise<Connected>>();

/** Calls a tool of a toolset over stdio. */
async function call(toolset: string, name: string, args: object): Promise<Answer> {
  const connecting = clients.get(toolset) ?? fixture.stdio(["--tools", toolset]);
  clients.set(toolset, connecting);
  const { client } = await connecting;
  const result = await client.callTool({ name, arguments: args as Record<string, unknown> });
  const [content] = result.content as { text: string }[];
  return { text: content?.text ?? "", data: (result.structuredContent ?? {}) as Structured };
}

const description = "Check the output";
const bash = (command: string, more: object = {}) => call("bash", "Bash", { command, description, ...more });
const bashOutput = (shell_id: string, filter?: string) =>
  call("bash", "BashOutput", { shell_id, ...(filter === undefined ? {} : { filter }) });
const shell = (args: object) => call("shell", "exec", args);
const manage = (action: string, session_id: string, more: object = {}) =>
  call("shell", "process", { action, session_id, ...more });
const execute = (command: string, more: object = {}) => call("exec", "execute", { command, ...more });
const run = (command: string, more: object = {}) =>
  call("runner", "run", { command, intent: description, shell: true, ...more });
const processRun = (command: string, more: object = {}) => call("process", "process.run", { command, ...more });

/** Starts a command in the background and waits until it has ended. */
async function ended(command: string): Promise<string> {
  const { data } = await bash(command, { run_in_background: true });
  await until("the command has ended", async () => {
    const { data: state } = await call("process", "process.monitor", { process_id: data.shell_id });
    return state.state !== "running";
  });
  return data.shell_id;
}

/** Starts a command in the background and waits until it has written a number of bytes. */
async function written(command: string, bytes: number): Promise<string> {
  const { data } = await bash(command, { run_in_background: true });
  await until("the output has been written", async () => {
    const { data: logs } = await call("process", "process.logs", { process_id: data.shell_id, limit: 1 });
    return logs.stdout_size >= bytes;
  });
  return data.shell_id;
}

/** Reads pages until nothing is left. Returns the pages. */
async function pagesOf(shell_id: string): Promise<Answer[]> {
  const pages: Answer[] = [];
  for (let more = true; more; ) {
    const page = await bashOutput(shell_id);
    pages.push(page);
    more = page.data.unread_bytes > 0;
    assert.equal(more, page.text.includes("call BashOutput again"));
  }
  return pages;
}

const outputOf = (pages: Answer[]) => pages.map(({ data }) => data.output).join("");

test("a filter that cannot be used consumes no output", async () => {
  const slow = "a".repeat(40);
  const shell_id = await ended(`echo precious; echo ${slow}!`);
  assert.match((await bashOutput(shell_id, "(")).text, /InvalidRequest/);
  assert.match((await bashOutput(shell_id, "^(a+)+$")).text, /takes too long/);
  assert.equal((await bashOutput(shell_id)).data.output, `precious\n${slow}!\n`);
});

test("a filter finds a line that the limit of a page would split", async () => {
  const command = `y=$(printf '%099d' 0); for i in $(seq 1023); do echo $y; done; echo ${"x".repeat(60)}NEEDLE${"x".repeat(60)}`;
  assert.match((await bashOutput(await ended(command), "NEEDLE")).data.output, /^x+NEEDLE_?x+\n$/);
});

test("a filter searches all unread output in one call", async () => {
  const shell_id = await ended("seq 1 300000");
  const { data } = await bashOutput(shell_id, "^(1|150000|300000)$");
  assert.deepEqual([data.output, data.unread_bytes], ["1\n150000\n300000\n", 0]);
});

test("a filter sees what the model sees, without escape sequences and carriage returns", async () => {
  const shell_id = await ended(String.raw`printf '\033[32mOK\033[0m done\ncrlf line\r\n10%%\r100%%\nother\n'`);
  const { data } = await bashOutput(shell_id, "^OK|line$|^100%$");
  assert.equal(data.output, "OK done\ncrlf line\n100%\n");
});

test("an incomplete line is held back for a filter and not announced as unread", async () => {
  const go = fixture.fixture.path("go-filter");
  const shell_id = await written(`printf 'first\nhalf'; until [ -e ${go} ]; do sleep 0.05; done; echo ' and half'`, 10);
  const first = await bashOutput(shell_id, "f");
  assert.deepEqual([first.data.output, first.data.unread_bytes], ["first\n", 0]);
  assert.doesNotMatch(first.text, /call BashOutput again/);
  await bash(`touch ${go}`);
  await until("the rest arrives", async () => (await bashOutput(shell_id, "^half and half$")).data.output !== "");
});

test("half a character is neither shown nor announced as unread", async () => {
  const go = fixture.fixture.path("go-half");
  const shell_id = await written(
    String.raw`printf 'gr\303'; until [ -e ${go} ]; do sleep 0.05; done; printf '\274n\n'`,
    3,
  );
  const first = await bashOutput(shell_id);
  assert.deepEqual([first.data.output, first.data.unread_bytes], ["gr", 0]);
  await bash(`touch ${go}`);
  let rest = "";
  await until("the rest arrives", async () => {
    rest += (await bashOutput(shell_id)).data.output;
    return rest.endsWith("\n");
  });
  assert.equal(rest, "ün\n");
});

test("an escape sequence is not split between two reads", async () => {
  const go = fixture.fixture.path("go-escape");
  const shell_id = await written(
    String.raw`printf 'a\033[3'; until [ -e ${go} ]; do sleep 0.05; done; printf '1mred\n'`,
    4,
  );
  assert.equal((await bashOutput(shell_id)).data.output, "a");
  await bash(`touch ${go}`);
  let rest = "";
  await until("the rest arrives", async () => {
    rest += (await bashOutput(shell_id)).data.output;
    return rest.endsWith("\n");
  });
  assert.equal(rest, "red\n");
});

test("pages end after lines and return everything that a foreground result left out", async () => {
  const { text, data } = await bash("seq 1 300000");
  assert.match(
    text,
    /^1\n2\n[\d\n]*\n\[… [\d,]+ bytes left out; read them with BashOutput shell_id=[^\n]*\]\n[\d\n]*\n300000\n$/,
  );
  const pages = await pagesOf(data.shell_id);
  assert.ok(pages.every((page) => /^\d+\n[\d\n]*\n$/.test(page.data.output)));
  assert.equal(outputOf(pages), Array.from({ length: 300_000 }, (_, index) => `${index + 1}\n`).join(""));
  const shown = data.output.replace(/\[… .*\]\n/, "");
  assert.equal(data.left_out_bytes, Buffer.byteLength(outputOf(pages)) - Buffer.byteLength(shown));
});

test("control characters that become longer do not make a page lose output", async () => {
  const shell_id = await ended(String.raw`for i in $(seq 30); do printf '%04d\001%.0s' $(seq 2000); echo; done`);
  const pages = await pagesOf(shell_id);
  assert.ok(pages.length > 1 && pages.every(({ data }) => Buffer.byteLength(data.output) <= 100 * 1024));
  assert.equal(outputOf(pages).split("\n").length, 31);
  assert.doesNotMatch(outputOf(pages), /left out/);
});

const AFTER_YIELD: [name: string, script: string, all: string][] = [
  ["lines", String.raw`printf 'one\ntwo\nthree\n'`, "one\ntwo\nthree\n"],
  ["characters of several bytes", String.raw`printf 'größer ✓\n'`, "größer ✓\n"],
  ["colours", String.raw`printf '\033[33mwarn\033[0m\n'`, "warn\n"],
];
for (const [name, script, all] of AFTER_YIELD) {
  test(`the first poll after a command moved to the background continues after its result: ${name}`, async () => {
    const go = fixture.fixture.path(`go-${name.split(" ").at(-1)}`);
    const command = `${script}; until [ -e ${go} ]; do sleep 0.05; done; echo end`;
    const { data } = await shell({ command, pty: true, yieldMs: 0 });
    let before = data.aggregated;
    await until("the first output has been read", async () => {
      before += (await manage("poll", data.session_id)).data.output;
      return before.length >= all.length;
    });
    assert.equal(before, all);
    assert.equal((await manage("poll", data.session_id)).data.output, "");
    await bash(`touch ${go}`);
    let rest = "";
    await until("the end has been read", async () => {
      rest += (await manage("poll", data.session_id)).data.output;
      return rest.includes("end");
    });
    assert.equal(rest, "end\n");
  });
}

test("wait finds a pattern in output from before the call, at the start of any line", async () => {
  const started = await shell({
    command: String.raw`printf 'starting\r\nREADY on port 3000\r\n'; sleep 60`,
    background: true,
  });
  const { session_id } = started.data;
  await until("the output has been written", async () => {
    return (await manage("log", session_id)).data.total === 2;
  });
  const waited = await manage("wait", session_id, { pattern: "^READY.*3000$", timeoutMs: 20_000 });
  assert.deepEqual([waited.data.reason, waited.data.match], ["pattern", "READY on port 3000"]);
  assert.equal(waited.data.output, "starting\nREADY on port 3000\n");
  const again = await manage("wait", session_id, { pattern: "READY", timeoutMs: 0 });
  assert.equal(again.data.reason, "timeout");
  await manage("kill", session_id);
});

test("wait matches a line in the state that a terminal shows", async () => {
  const started = await shell({ command: String.raw`printf '99%%\rab\bc%%\n'; sleep 60`, background: true });
  const { session_id } = started.data;
  const waited = await manage("wait", session_id, { pattern: "^ac%$", timeoutMs: 20_000 });
  assert.equal(waited.data.reason, "pattern");
  await manage("kill", session_id);
});

test("the poll of a full-screen program returns its screen", async () => {
  const command = String.raw`printf '\033[?1049h\033[2J\033[3;5Hhello\033[1;1Htop'; sleep 60`;
  const { data } = await shell({ command, pty: true, background: true });
  let output = "";
  await until("the screen is drawn", async () => {
    output = (await manage("poll", data.session_id)).data.output || output;
    return output.includes("hello") && output.includes("top");
  });
  assert.match(output, /^top\n\n {4}hello\n\[120 x 30/);
  await manage("kill", data.session_id);
});

// Each line has 8 bytes. 70,000,000 bytes exceed the limit of 64 MiB for each stream.
const FLOOD = "yes 1234567 | head -c 70000000";
const MARK = /^\[\.\.\. ([\d,]+) bytes were dropped: over the 64 MiB limit of this (stream|file) \.\.\.\]$/gm;

/** Returns the number of dropped bytes that a text marks. */
function droppedIn(text: string): number {
  const marks = [...text.matchAll(MARK)].map(([, count = ""]) => Number(count.replaceAll(",", "")));
  assert.equal(marks.length, 1, text.slice(0, 200));
  return marks[0] ?? 0;
}

const leftIn = (text: string) =>
  [...text.matchAll(/\[… ([\d,]+) bytes left out; read them with /g)]
    .map(([, count = ""]) => Number(count.replaceAll(",", "")))
    .reduce((sum, bytes) => sum + bytes, 0);
const linesIn = (text: string) => text.split("\n").filter((line) => line === "1234567").length;

const FLOODS: [toolset: string, read: () => Promise<string>][] = [
  ["bash", async () => (await bash(FLOOD)).data.output],
  ["exec", async () => (await execute(FLOOD)).data.output],
  ["shell", async () => (await shell({ command: FLOOD, yieldMs: 60_000 })).data.aggregated],
  ["runner", async () => (await run(FLOOD)).data.stdout],
];
for (const [toolset, read] of FLOODS) {
  test(`a result shows what is left out and what is gone, with exact counts: ${toolset}`, async () => {
    const text = await read();
    assert.equal(linesIn(text) * 8 + droppedIn(text) + leftIn(text), 70_000_000);
    assert.doesNotMatch(text, /\0|␀/);
  });
}

test("every reader of a log shows the gap where it is", async () => {
  const { data, text } = await execute(FLOOD);
  const { session_id } = data;
  const dropped = droppedIn(data.output);
  assert.ok(text.includes(data.output));

  // By lines, around the gap.
  const lines = (offset: number, limit: number) => call("exec", "process_log", { session_id, offset, limit });
  const first = await lines(0, 1);
  assert.equal(first.data.dropped_bytes, dropped);
  assert.match(first.text, new RegExp(`; ${dropped.toLocaleString("en-US")} bytes were dropped, their lines are not`));
  const atGap = await lines((32 << 20) / 8 - 2, 5);
  assert.equal(droppedIn(atGap.data.content), dropped);
  assert.match(atGap.data.content, /^1234567\n1234567\n\[\.\.\. .* \.\.\.\]\n1234567\n/);
  const { data: log } = await manage("log", session_id, { offset: (32 << 20) / 8 - 2, limit: 5 });
  assert.equal(log.output, atGap.data.content);

  // By bytes.
  const { data: bytes } = await call("process", "process.logs", {
    process_id: session_id,
    offset: (32 << 20) - 16,
    limit: 64,
  });
  assert.equal(droppedIn(bytes.stdout), dropped);

  // By pages, with and without a filter.
  const { data: filtered } = await bashOutput(session_id, "^never$");
  assert.deepEqual([droppedIn(filtered.output), filtered.skipped_bytes, filtered.unread_bytes], [dropped, dropped, 0]);

  // The last lines do not contain the gap.
  const { data: polled } = await call("exec", "process_poll", { session_id });
  assert.equal(linesIn(polled.output), 20);
  assert.doesNotMatch(polled.output, MARK);

  // The plain file has no holes.
  const file = readFileSync(data.log_path, "latin1");
  assert.equal(file.indexOf("\0"), -1);
  assert.ok(file.length <= 64 << 20);
  assert.equal(linesIn(file) * 8 + droppedIn(file), 70_000_000);
});

const BINARY: [toolset: string, read: (command: string) => Promise<string>][] = [
  ["bash", async (command) => (await bash(command)).data.output],
  ["exec", async (command) => (await execute(command)).data.output],
  ["shell", async (command) => (await shell({ command, yieldMs: 60_000 })).data.aggregated],
  ["runner", async (command) => (await run(command)).data.stdout],
  ["process", async (command) => (await processRun(command)).data.stdout_summary],
];
for (const [toolset, read] of BINARY) {
  test(`invalid UTF-8 is replaced, however much there is: ${toolset}`, async () => {
    assert.equal(await read(String.raw`printf '\377\376a\200\201\202b\n\377\n'`), "��a���b\n�\n");
  });
}

test("the counts of binary output are exact, and BashOutput shows all of it", async () => {
  const command = String.raw`for i in $(seq 300); do printf '\377\376\200'; done`;
  const short = await bash(command);
  assert.deepEqual([short.data.left_out_bytes, short.data.output.length], [0, 900]);
  const long = await bash(`${command.replace("300", "20000")}; exit 0`);
  assert.match(long.data.output, /\n\[… [\d,]+ bytes of binary data.* left out; read them with BashOutput/);
  const shown = [...long.data.output].filter((character) => character === "�").length;
  assert.equal(shown + long.data.left_out_bytes, 60_000);
  assert.equal(outputOf(await pagesOf(long.data.shell_id)).length, 60_000);
});

test("an offset inside a character starts with that character", async () => {
  const { data } = await processRun(String.raw`printf 'a✓b\n'`);
  const read = async (offset: number, limit?: number) => {
    const { data: logs } = await call("process", "process.logs", { process_id: data.process_id, offset, limit });
    return [logs.stdout, logs.stdout_consumed];
  };
  assert.deepEqual(await read(1), ["✓b\n", 5]);
  assert.deepEqual(await read(2), ["✓b\n", 4]);
  assert.deepEqual(await read(3), ["✓b\n", 3]);
  assert.deepEqual(await read(4), ["b\n", 2]);
  assert.deepEqual(await read(0, 2), ["a", 1]);
});

test("log_file has both streams in the order in which they were written", async () => {
  const command = "for i in 1 2 3 4 5 6 7 8 9; do echo out$i; echo err$i >&2; done";
  const expected = Array.from({ length: 9 }, (_, index) => `out${index + 1}\nerr${index + 1}\n`).join("");
  const log_file = fixture.fixture.path("background.log");
  const started = await call("runner", "run_background", { command, intent: description, log_file });
  assert.equal(started.data.success, true);
  await until("the log is complete", () => readFileSync(log_file, "utf8").length >= expected.length);
  assert.equal(readFileSync(log_file, "utf8"), expected);
  assert.equal(statSync(log_file).mode & 0o777, 0o666 & ~process.umask());
  const { data } = await execute(command);
  assert.equal(readFileSync(data.log_path, "utf8"), expected);
});

test("the callback of a background exit agrees with process_poll, and its lines are cleaned", async () => {
  const lines = String.raw`printf '\033[31mred\033[0m\r\n10%%\r100%%\n'`;
  const cases: [command: string, more: object, expected: [string, number | null]][] = [
    [`${lines}; exit 3`, {}, ["completed", 3]],
    [`${lines}; kill -KILL $$`, {}, ["completed", 137]],
    [`${lines}; sleep 60`, { timeout: 1 }, ["timed_out", null]],
  ];
  for (const [command, more, expected] of cases) {
    const { data } = await execute(command, { background: true, ...more });
    const { session_id } = data;
    let item: { payload: Structured } | undefined;
    await until("the item is in the queue", async () => {
      const items = JSON.parse(await fixture.run("work", "list", "--json")) as { payload: Structured }[];
      item = items.find(({ payload }) => payload.session_id === session_id);
      return item !== undefined;
    });
    const { data: polled } = await call("exec", "process_poll", { session_id });
    assert.deepEqual([polled.status, polled.exit_code], expected);
    assert.deepEqual([item?.payload.status, item?.payload.exit_code], expected);
    assert.deepEqual(item?.payload.last_lines, ["red", "100%"]);
  }
});

test("a timeout is reported with the requested time, without the time to end", async () => {
  const command = "trap '' TERM; while :; do sleep 0.1; done";
  const answers = await Promise.all([
    execute(command, { timeout: 1 }),
    shell({ command, timeout: 1, yieldMs: 60_000 }),
    run(command, { timeout: 1 }),
    processRun(command, { timeout: 1 }),
  ]);
  for (const { text } of answers) assert.match(text, /Timed out after 1s\./);
  assert.match((await bash(command, { timeout: 1 })).text, /timed out after 1s\n/);
});

test("a failure of a command with merged output does not refer to stderr", async () => {
  const command = "echo problem >&2; exit 3";
  for (const { text } of [await execute(command), await shell({ command }), await bash(command)]) {
    assert.match(text, /problem\n/);
    assert.doesNotMatch(text, /stderr/);
  }
});

test("calls at the same time do not return the same output twice", async () => {
  const shell_id = await ended("seq 1 100000");
  const pages = await Promise.all([1, 2, 3].map(() => bashOutput(shell_id)));
  const all = [...pages, ...(await pagesOf(shell_id))];
  const numbers = outputOf(all).trim().split("\n").map(Number);
  assert.equal(new Set(numbers).size, 100_000);
  assert.equal(numbers.length, 100_000);
});

after(async () => {
  for (const connected of clients.values()) await (await connected).close();
});
