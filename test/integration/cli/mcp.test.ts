import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Sandbox } from "../../fixtures/sallyport.ts";

const box = new Sandbox();
after(() => box.remove());

for (const [args, complaint] of [
  [["serve"], /`mcp` takes no `serve`/],
  [["--tools", "bash,fish"], /must be some of .*; received `fish`/],
  [["--tools", ""], /must be some of/],
  [["--answer-within", "0"], /more than 0 and at most a day; received `0`/],
  [["--answer-within", "40d"], /at most a day/],
  [["--answer-within", "soon"], /a duration such as/],
  [["--on-disconnect", "wait"], /one of keep, end/],
  [["--approvals", "agent"], /one of host, elsewhere/],
  [["--http", "99999"], /a port or HOST:PORT/],
  [["--http", "7333", "--idle", "0"], /more than 0/],
  [["--http", "7333", "--max-sessions", "many"], /a whole number/],
] as const) {
  test(`mcp ${args.join(" ")} is refused with a reason, and nothing on stdout`, async () => {
    const { code, stdout, stderr } = await box.run(["mcp", ...args]);
    assert.equal(code, 125);
    assert.equal(stdout, "");
    assert.match(stderr, complaint);
  });
}

test("a client that says nothing and leaves is no failure", async () => {
  const { code, stdout, stderr } = await box.run(["mcp"]);
  assert.deepEqual([code, stdout, stderr], [0, "", ""]);
});
