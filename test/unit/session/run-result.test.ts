import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { RunResult } from "../../../src/core/result.ts";
import { exitRecord, sessionFields } from "../../fixtures/session-rows.ts";
import { dataIn } from "./session-data.ts";
import { temporaryFolder } from "./timeline-writer.ts";

async function result(folder: string, code: number, sizes: [number, number], fields = {}): Promise<RunResult> {
  const streams = sizes.map((bytes) => ({ bytes, droppedStart: 0, droppedEnd: 0, lost: 0 }));
  const session = sessionFields({ cwd: folder, ...fields });
  return await dataIn(folder, "apart").result("n", session, exitRecord({ code, streams }));
}

test("does not read the disk for a command that wrote no output", async () => {
  const { status, exitCode, output, warnings, error } = await result("/proc/self/fd/9999/no", 0, [0, 0]);
  const expected = { status: "completed", exitCode: 0, output: "", warnings: [], error: null };
  assert.deepEqual({ status, exitCode, output, warnings, error }, expected);
});

test("returns output unchanged", async () => {
  using folder = temporaryFolder();
  const raw = "10%\r100%\r\n\u001b[31mred\u001b[0m\n";
  writeFileSync(join(folder.path, "stdout"), raw);
  assert.equal((await result(folder.path, 0, [Buffer.byteLength(raw), 0])).stdout, raw);
});

test("explains a command that the shell could not run, and keeps its exit code", async () => {
  using folder = temporaryFolder();
  const text = "bash: line 1: no-such-thing-at-all: command not found\n";
  writeFileSync(join(folder.path, "stderr"), text);
  const { status, exitCode, error } = await result(folder.path, 127, [0, text.length]);
  assert.deepEqual([status, exitCode, error?.type], ["completed", 127, "CommandNotFound"]);
  assert.equal(error?.message, "Command not found: no-such-thing-at-all.");
  assert.deepEqual(
    error?.recovery.map(({ action }) => action),
    ["check_path", "use_full_path"],
  );
  assert.equal((await result(folder.path, 1, [0, text.length])).error, null);
  // A program that is run directly may exit with the same code and message.
  assert.equal((await result(folder.path, 127, [0, text.length], { args: "[]" })).error, null);
});

async function terminalResult(output: string, sizes = "0 40 6\n"): Promise<string> {
  using folder = temporaryFolder();
  writeFileSync(join(folder.path, "output"), output);
  if (sizes !== "") writeFileSync(join(folder.path, "sizes"), sizes);
  const streams = [{ bytes: Buffer.byteLength(output), droppedStart: 0, droppedEnd: 0, lost: 0 }];
  const session = sessionFields({ capture: "merged" });
  return (await dataIn(folder.path, "merged").result("n", session, exitRecord({ streams }))).output;
}

test("returns terminal lines in their last state", async () => {
  assert.equal(await terminalResult("a\r\n10%\r100%\r\n\x1b[31mred\x1b[0m\r\n"), "a\n100%\nred\n");
  const long = "long ".repeat(20);
  assert.equal(await terminalResult(`${long}\r\n`), `${long}\n`, "no line breaks where the terminal wrapped the line");
  assert.equal(await terminalResult("\x1b[H\x1b[2J\x1b[3Jcleared first\r\n"), "cleared first\n");
  assert.equal(await terminalResult(""), "");
});

test("returns the last screen and the scrollback of a full-screen program", async () => {
  const frames = Array.from({ length: 50 }, (_, n) => `\x1b[H\x1b[Jframe ${n}\r\nload ${n}\r\n`).join("");
  assert.equal(await terminalResult(`started\r\n${frames}`), "frame 49\nload 49\n");
  const vim = "$ vim x\r\n\x1b[?1049h\x1b[2J\x1b[Htext\x1b[?1049lwritten\r\n";
  assert.equal(await terminalResult(vim), "$ vim x\nwritten\n");
  assert.equal(await terminalResult("\x1b[?1049h\x1b[Hmenu\r\n> one"), "menu\n> one\n", "killed in the middle");
  const many = Array.from({ length: 100 }, (_, n) => `line ${n}`).join("\r\n");
  assert.equal(
    await terminalResult(`${many}\x1b[5;1Hover\x1b[6;1H`),
    `${many.replaceAll("\r", "").replace("line 98", "over 98")}\n`,
  );
});

test("does not change output on pipes", async () => {
  assert.equal(await terminalResult("x\r\n", ""), "x\r\n");
  assert.equal(await terminalResult("x\r\n", "pipes ptmx 2\n"), "x\r\n");
});
