import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Room } from "../../fixtures/approvals.ts";
import { killAndWait } from "../../fixtures/processes.ts";
import { until } from "../../fixtures/until.ts";

const skip = spawnSync("script", ["--version"]).status === 0 ? false : "script, which gives a terminal, is not here";
const PROCESS = fileURLToPath(new URL("approvals-ask-process.ts", import.meta.url));
const room = new Room();
after(() => room.remove());
const approvals = room.approvals();
const who = userInfo().username;

/** What was said, when each answer is typed at the question before it. */
async function said(
  command: string,
  answers: [question: string, answer: string][],
  callOff?: string,
): Promise<unknown> {
  const { id } = approvals.request(room.asked({ command }));
  const line = `stty cols 80 rows 24 -echo; exec ${process.execPath} ${PROCESS} ${room.file} ${id} ${callOff ?? ""}`;
  const child = spawn("script", ["-qec", line, "/dev/null"], { env: { ...process.env, NO_COLOR: "1" }, stdio: "pipe" });
  let screen = "";
  let at = 0;
  child.stdout.on("data", (chunk: Buffer) => {
    screen += chunk.toString();
  });
  const shows = async (text: string) => {
    await until(`the terminal shows ${text}; it shows ${screen}`, () => screen.includes(text, at));
    at = screen.indexOf(text, at) + text.length;
  };
  await shows(`│ ${command}`);
  for (const [question, answer] of answers) {
    await shows(question);
    child.stdin.write(answer);
  }
  if (callOff) writeFileSync(callOff, "");
  await shows("SAID ");
  await until("the answer is whole", () => screen.includes("\n", at));
  await killAndWait(child);
  return JSON.parse(screen.slice(at, screen.indexOf("\n", at)));
}

const ALLOW = "Allow it? (o once, a always, d deny, l later)";

const TALKS: [name: string, command: string, answers: [string, string][], expected: object | null][] = [
  ["once", "ls /ask/once", [[ALLOW, "o\r"]], { decision: "once" }],
  ["later", "ls /ask/later", [[ALLOW, "l\r"]], null],
  ["end of input", "ls /ask/end", [[ALLOW, "\x04"]], null],
  [
    "nonsense is asked again",
    "ls /ask/what",
    [
      [ALLOW, "yes\r"],
      [ALLOW, "\r"],
      [ALLOW, "o\r"],
    ],
    { decision: "once" },
  ],
  [
    "deny with a reason",
    "ls /ask/deny",
    [
      [ALLOW, "d\r"],
      ["Reason for the agent:", "not today\r"],
    ],
    { decision: "deny", reason: "not today" },
  ],
  [
    "always, for a while",
    "ls /ask/always",
    [
      [ALLOW, "a\r"],
      ["For how long?", "soon\r"],
      [ALLOW, "a\r"],
      ["For how long?", "8h\r"],
    ],
    { decision: "always", grant: { expiresMs: 8 * 3_600_000 } },
  ],
  [
    "always is not offered where it cannot be",
    "make",
    [
      ["Allow it? (o once, d deny, l later)", "a\r"],
      ["Allow it?", "o\r"],
    ],
    { decision: "once" },
  ],
];

for (const [name, command, answers, expected] of TALKS) {
  test(`asked right here: ${name}`, { skip }, async () => {
    const answer = expected && { ...expected, who, channel: "terminal" };
    assert.deepEqual(await said(command, answers), answer);
  });
}

test("asked right here: decided elsewhere meanwhile", { skip }, async () => {
  assert.equal(await said("ls /ask/elsewhere", [[ALLOW, ""]], join(room.folder, "called-off")), null);
});
