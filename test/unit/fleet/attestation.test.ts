import assert from "node:assert/strict";
import { generateKeyPairSync, sign } from "node:crypto";
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { SallyportError } from "../../../src/core/error.ts";
import {
  type ApprovedRequest,
  ATTESTATION_MS,
  type Attestation,
  canonicalJson,
  signApproval,
  verifyAttestation,
} from "../../../src/fleet/attestation.ts";
import { parsePublicKey, signingKey, TrustedKeys } from "../../../src/fleet/keys.ts";

const folder = mkdtempSync(join(tmpdir(), "sallyport-statement-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const gateway = signingKey(join(folder, "gateway"));
const worker = new TrustedKeys(join(folder, "worker"));
worker.add("office", gateway.public, "tester");

const WHAT: ApprovedRequest = {
  session: "0199-a",
  agent: "builder",
  request: { command: "rm", args: ["-r", "build"], cwd: "shop", env: { CI: "1" }, stdin: "none", sandbox: "read-only" },
};
const BY = { approval: "7f", grants: [], approvers: ["ada", "grace"] };
const made = signApproval(gateway, WHAT, BY);

function refusal(given: unknown, what = WHAT, now = Date.now()): unknown {
  try {
    verifyAttestation(given, what, worker, now);
    return null;
  } catch (error) {
    assert.ok(error instanceof SallyportError);
    assert.equal(error.type, "StatementRefused");
    assert.ok(error.recovery.length > 0);
    return error.details.fault;
  }
}

test("accepts the attestation of a trusted gateway for exactly its request, after a JSON round trip", () => {
  const { gateway: name, ...statement } = verifyAttestation(JSON.parse(JSON.stringify(made)), WHAT, worker);
  assert.equal(name, "office");
  assert.deepEqual(statement, made);
  assert.deepEqual(statement.approvers, ["ada", "grace"]);
});

test("rejects a job without an attestation", () => {
  assert.equal(refusal(null), "unsigned");
  assert.equal(refusal(undefined), "unsigned");
});

test("rejects an attestation when any field of the request differs", () => {
  const request = WHAT.request as Record<string, unknown>;
  const others: [string, unknown][] = [
    ["command", "/bin/rm"],
    ["args", ["-r", "build", "src"]],
    ["cwd", "shop/.."],
    ["env", { CI: "1", LD_PRELOAD: "/tmp/x.so" }],
    ["stdin", { text: "y\n" }],
    ["sandbox", "off"],
    ["network", "on"],
  ];
  for (const [field, value] of others) {
    assert.equal(refusal(made, { ...WHAT, request: { ...request, [field]: value } }), "other-request", field);
  }
  assert.equal(refusal(made, { ...WHAT, agent: "intruder" }), "other-request");
});

test("rejects the attestation of another session", () => {
  assert.equal(refusal(made, { ...WHAT, session: "0199-b" }), "other-session");
});

test("rejects an attestation whose fields were changed", () => {
  const changes: Partial<Attestation>[] = [
    { session: "0199-b" },
    { request: "0".repeat(64) },
    { approvers: ["ada"] },
    { approval: null },
    { grants: ["all"] },
    { expiresMs: made.expiresMs + 1 },
    { issuedMs: made.issuedMs - 1 },
    { signature: `${made.signature.startsWith("A") ? "B" : "A"}${made.signature.slice(1)}` },
  ];
  for (const change of changes) assert.equal(refusal({ ...made, ...change }), "altered", Object.keys(change)[0]);
});

test("rejects values that are not attestations as malformed", () => {
  const { signature: _, ...unsigned } = made;
  for (const given of ["yes", 1, [], {}, unsigned, { ...made, extra: 1 }, { ...made, version: 2 }]) {
    assert.equal(refusal(given), "malformed", JSON.stringify(given));
  }
});

test("rejects attestations that have expired or were issued in the future", () => {
  assert.equal(refusal(made, WHAT, made.issuedMs + ATTESTATION_MS - 1), null);
  assert.equal(refusal(made, WHAT, made.issuedMs + ATTESTATION_MS), "expired");
  assert.equal(refusal(made, WHAT, made.issuedMs - 6 * 60_000), "ahead");
  assert.equal(refusal(made, WHAT, made.issuedMs - 4 * 60_000), null);
});

test("rejects an unknown key and a key that was removed", () => {
  const other = signingKey(join(folder, "other"));
  assert.notEqual(other.public, gateway.public);
  const statement = signApproval(other, WHAT, BY);
  assert.equal(refusal(statement), "unknown-key");
  worker.add("lab", other.public, "tester");
  assert.equal(refusal(statement), null);
  worker.remove("lab");
  assert.equal(refusal(statement), "unknown-key");
  // Naming a trusted key does not help without its private key.
  assert.equal(refusal({ ...statement, key: gateway.public }), "altered");
});

test("rejects a signature that the same key made for another purpose", () => {
  const { signature: _, ...body } = made;
  const elsewhere = sign(null, Buffer.from(canonicalJson(body)), gateway.private).toString("base64url");
  assert.equal(refusal({ ...made, signature: elsewhere }), "altered");
});

test("a gateway keeps its signing key in a file that only its owner can read", () => {
  const state = join(folder, "gateway");
  assert.equal(signingKey(state).public, gateway.public);
  assert.match(gateway.public, /^ed25519:[\w-]{43}$/);
  assert.deepEqual(readdirSync(join(state, "fleet")), ["signing-key.pem"]);
  assert.equal(statSync(join(state, "fleet", "signing-key.pem")).mode & 0o777, 0o600);
  assert.equal(statSync(join(state, "fleet")).mode & 0o777, 0o700);
});

test("rejects a signing key that is not ed25519", () => {
  const state = join(folder, "rsa");
  signingKey(state);
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  writeFileSync(join(state, "fleet", "signing-key.pem"), privateKey.export({ type: "pkcs8", format: "pem" }));
  assert.throws(() => signingKey(state), /type rsa/);
});

test("the list of trusted gateways accepts only valid keys, each under one name", () => {
  const list = new TrustedKeys(join(folder, "list"));
  assert.deepEqual(list.list(), []);
  const added = list.add("office", gateway.public, "ada");
  assert.deepEqual(list.list(), [added]);
  assert.throws(() => list.add("office", signingKey(join(folder, "third")).public, "ada"), /already/);
  assert.throws(() => list.add("again", gateway.public, "ada"), /already/);
  assert.throws(() => list.add("../x", gateway.public, "ada"), /not a valid name/);
  for (const bad of ["", "ed25519:", gateway.public.slice(0, -1), `${gateway.public}A`, `rsa${gateway.public}`]) {
    assert.throws(() => list.add("bad", bad, "ada"), /not the public key of a gateway/, bad);
  }
  // The last base64 character has two surplus bits, which must be zero.
  const last = gateway.public.at(-1) ?? "";
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  assert.throws(() => parsePublicKey(gateway.public.slice(0, -1) + letters[letters.indexOf(last) + 1]));
  assert.deepEqual(list.remove(gateway.public), added);
  assert.throws(() => list.remove("office"), /No such trusted gateway/);
});

test("looking up a key in an unreadable list throws", () => {
  const list = new TrustedKeys(join(folder, "worker"));
  const file = join(folder, "worker", "fleet", "trusted.json");
  assert.equal(statSync(file).mode & 0o777, 0o600);
  writeFileSync(file, "{}");
  chmodSync(file, 0o600);
  assert.throws(() => list.find(gateway.public), /cannot be read/);
});
