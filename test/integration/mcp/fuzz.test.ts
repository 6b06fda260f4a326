import assert from "node:assert/strict";
import { after, test } from "node:test";
import { corpus, FUZZ_SECONDS as SECONDS, FUZZ_SEED as SEED } from "../../fixtures/fuzz.ts";
import { McpFixture, RawClient } from "../../fixtures/mcp.ts";
import { seeded } from "../../fixtures/seeded.ts";
import { malformedLine } from "./malformed-messages.ts";

const fixture = new McpFixture();
after(() => fixture.close());

const saved = corpus(new URL("corpus/lines.txt", import.meta.url));
const LINES = 1000;
/** Number of lines sent before each check that the server still works. */
const BATCH = 250;

const OPENINGS: Record<string, (raw: RawClient) => Promise<unknown>> = {
  "a 2025-era client after the handshake": (raw) => raw.initialize({ elicitation: {} }),
  "a client without a handshake": async () => {},
};

for (const [who, open] of Object.entries(OPENINGS)) {
  test(`the server survives random input from ${who} and leaves nothing behind`, async (t) => {
    const next = seeded(SEED);
    const child = fixture.spawn(["mcp"]);
    let errors = "";
    child.stderr?.on("data", (data) => {
      errors += data;
    });
    const raw = new RawClient(child);
    await open(raw);
    for (const { line } of saved) raw.send(Buffer.from(line));
    await assertAlive(raw);
    const end = SECONDS === null ? null : Date.now() + SECONDS * 500;
    let sent = 0;
    let alive = 0;
    for (; end === null ? sent < LINES : Date.now() < end; ) {
      for (let line = 0; line < BATCH; line++, sent++) raw.send(malformedLine(next, `fuzz-${sent}`));
      await assertAlive(raw);
      alive++;
      raw.received.length = 0;
    }
    t.diagnostic(`seed ${SEED}: ${sent} lines, ${alive} checks`);
    assert.deepEqual(raw.rubbish, [], `seed ${SEED}: the server wrote lines that are not protocol messages`);
    assert.doesNotMatch(errors, /\n {4}at |Warning/, `seed ${SEED}`);
    assert.equal(await raw.leave(), 0, `seed ${SEED}: ${errors.slice(-2000)}`);
  });
}

/** Checks the server in the protocol version that one of the lines may have selected. */
async function assertAlive(raw: RawClient): Promise<void> {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "fuzz", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const call = { name: "Bash", arguments: { command: "echo alive", description: "x" } };
  const answers = await Promise.all([raw.request("tools/call", call), raw.request("tools/call", { ...call, _meta })]);
  assert.ok(
    answers.some((answer) => JSON.stringify(answer.result ?? null).includes("alive")),
    `seed ${SEED}: ${JSON.stringify(answers)}`,
  );
}
