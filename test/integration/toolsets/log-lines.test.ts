import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Gateway } from "../../../src/gateway/gateway.ts";
import type { Session } from "../../../src/session/session.ts";
import { tools } from "../../../src/toolsets/tools.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";

let fixture: GatewayFixture;
let gateway: Gateway;
before(async () => {
  fixture = new GatewayFixture();
  gateway = await fixture.open({ policy: { toolsets: { exec: true } } });
});
after(() => fixture.close());

async function written(command: string): Promise<Session> {
  return gateway.session((await gateway.run({ command, capture: "merged" })).id);
}

/** Reads lines like `process_log`. */
async function readLines(session: Session, offset: number, limit: number) {
  const tool = tools(gateway, "exec").find(({ name }) => name === "process_log");
  assert.ok(tool);
  const { structured } = await tool.call({ session_id: session.id, offset, limit });
  const { content, total, next_offset } = structured as { content: string; total: number; next_offset: number };
  return { text: content, total, next: next_offset };
}

test("returns lines by offset and limit, including past the end", async () => {
  const session = await written("seq 10");
  const at = async (offset: number, limit: number) => {
    const { text, next, total } = await readLines(session, offset, limit);
    assert.equal(total, 10);
    return [text, next];
  };
  assert.deepEqual(await at(0, 2), ["1\n2\n", 2]);
  assert.deepEqual(await at(9, 5), ["10\n", 10]);
  assert.deepEqual(await at(-3, 2), ["8\n9\n", 9]);
  assert.deepEqual(await at(-100, 1), ["1\n", 1]);
  assert.deepEqual(await at(10, 5), ["", 10]);
  assert.deepEqual(await at(50, 5), ["", 10]);
});

test("handles an empty log and a last line without a line feed", async () => {
  assert.deepEqual(await readLines(await written("true"), 0, 10), { text: "", total: 0, next: 0 });
  assert.deepEqual(await readLines(await written("printf 'a\\nb'"), 0, 10), {
    text: "a\nb",
    total: 2,
    next: 2,
  });
});

test("continuing at `next` returns every line once", async () => {
  const session = await written("for i in $(seq 300); do printf '%0*d\\n' $((i * 7 % 1999 + 1)) $i; done");
  let text = "";
  let offset = 0;
  for (let total = 1; offset < total; ) {
    const slice = await readLines(session, offset, 1000);
    assert.ok(slice.next > offset && Buffer.byteLength(slice.text) <= 64 * 1024);
    text += slice.text;
    ({ total, next: offset } = slice);
  }
  assert.equal(text, (await session.logs()).text);
});

test("truncates an oversized last line without a line feed", async () => {
  const session = await written("echo first; head -c 200000 /dev/zero | tr '\\0' x");
  const first = await readLines(session, 0, 10);
  assert.deepEqual([first.text, first.next, first.total], ["first\n", 1, 2]);
  assert.match((await readLines(session, 1, 10)).text, /^x+\n\[… the rest of this line is omitted/);
});

test("truncates a line that exceeds the size of a result and continues after it", async () => {
  const session = await written("head -c 200000 /dev/zero | tr '\\0' x; echo; echo after");
  const first = await readLines(session, 0, 10);
  assert.deepEqual([first.next, first.total], [1, 2]);
  assert.ok(Buffer.byteLength(first.text) <= 64 * 1024);
  assert.match(first.text, /^x+\n\[… the rest of this line is omitted/);
  assert.equal((await readLines(session, first.next, 10)).text, "after\n");
});
