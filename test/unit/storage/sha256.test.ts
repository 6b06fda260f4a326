import assert from "node:assert/strict";
import { hash, randomBytes } from "node:crypto";
import { test } from "node:test";
import { plainSha256, sha256 } from "../../../src/storage/sha256.ts";

const ours = (text: string) => plainSha256(text);
const theirs = (text: string) => hash("sha256", text);

test("matches the examples of the standard", () => {
  assert.equal(ours(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  assert.equal(ours("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  assert.equal(
    ours("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
    "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
  );
});

test("matches Node's hash for all lengths around block ends and for any characters", () => {
  for (let length = 0; length < 300; length++) assert.equal(ours("x".repeat(length)), theirs("x".repeat(length)));
  for (let n = 0; n < 300; n++) {
    const text = randomBytes(n * 7).toString(n % 2 === 0 ? "latin1" : "utf16le");
    assert.equal(ours(text), theirs(text), JSON.stringify(text));
  }
  assert.equal(ours("a\ud800b€😀"), theirs("a\ud800b€😀"));
});

test("the first hashes and later ones match Node's hash", () => {
  for (let n = 0; n < 50; n++) assert.equal(sha256(`entry ${n}`), theirs(`entry ${n}`));
});
