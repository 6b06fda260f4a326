import assert from "node:assert/strict";
import { test } from "node:test";
import { addressOf, sessionUri } from "../../../src/mcp/resource-uri.ts";

const ID = "01a1dd77-d239-7468-9041-a8abe6260b4f";

test("addresses of sessions and their parts are understood", () => {
  const whole = { id: ID, offset: null, limit: null };
  assert.deepEqual(addressOf(sessionUri(ID)), { ...whole, part: null });
  assert.deepEqual(addressOf(sessionUri(ID, "stderr")), { ...whole, part: "stderr" });
  assert.deepEqual(addressOf(`${sessionUri(ID, "output")}?offset=12&limit=5`), {
    id: ID,
    part: "output",
    offset: 12,
    limit: 5,
  });
});

for (const uri of [
  "",
  "sallyport://session/",
  `sallyport://session/${ID.slice(0, 8)}`,
  `sallyport://session/${ID.toUpperCase()}`,
  `sallyport://session/${ID}/`,
  `sallyport://session/${ID}/exit`,
  `sallyport://session/${ID}/../${ID}`,
  `sallyport://session/${ID}?offset=1`,
  `${sessionUri(ID, "stdout")}?offset=-1`,
  `${sessionUri(ID, "stdout")}?offset=1e3`,
  `${sessionUri(ID, "stdout")}?offset=`,
  `${sessionUri(ID, "stdout")}?since=1`,
  `${sessionUri(ID, "stdout")}#offset`,
  `${sessionUri(ID, "stdout")}\n`,
  `file:///etc/passwd`,
]) {
  test(`${JSON.stringify(uri)} is nobody's address`, () => assert.equal(addressOf(uri), null));
}
