import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Sandbox } from "../../fixtures/sallyport.ts";

const box = new Sandbox();
after(() => box.remove());

for (const [args, complaint] of [
  [["serve"], /unexpected argument `serve` for `mcp`/],
  [["--tools", "bash,fish"], /must be a list of .*; received `fish`/],
  [["--tools", ""], /must be a list of/],
  [["--answer-within", "0"], /greater than 0 and at most 1 day; received `0`/],
  [["--answer-within", "40d"], /at most 1 day/],
  [["--answer-within", "soon"], /a duration such as/],
  [["--on-disconnect", "wait"], /one of keep, end/],
  [["--approvals", "agent"], /one of host, elsewhere/],
  [["--http", "99999"], /a port or HOST:PORT/],
  [["--http", "7333", "--idle", "0"], /greater than 0/],
  [["--http", "7333", "--max-sessions", "many"], /a whole number/],
] as const) {
  test(`rejects mcp ${args.join(" ")} without output on stdout`, async () => {
    const { code, stdout, stderr } = await box.run(["mcp", ...args]);
    assert.equal(code, 125);
    assert.equal(stdout, "");
    assert.match(stderr, complaint);
  });
}

test("exits with 0 when the client disconnects without a request", async () => {
  const { code, stdout, stderr } = await box.run(["mcp"]);
  assert.deepEqual([code, stdout, stderr], [0, "", ""]);
});
