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

test("a statement of a trusted gateway is good for exactly its request, also after the way over the wire", () => {
  const { gateway: name, ...statement } = verifyAttestation(JSON.parse(JSON.stringify(made)), WHAT, worker);
  assert.equal(name, "office");
  assert.deepEqual(statement, made);
  assert.deepEqual(statement.approvers, ["ada", "grace"]);
});

test("without one it is refused", () => {
  assert.equal(refusal(null), "unsigned");
  assert.equal(refusal(undefined), "unsigned");
});

test("any difference of the request is found", () => {
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

test("one session's statement is none for another session", () => {
  assert.equal(refusal(made, { ...WHAT, session: "0199-b" }), "other-session");
});

test("a change of the statement itself breaks its signature", () => {
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

test("what is not a statement is refused, whatever it is", () => {
  const { signature: _, ...unsigned } = made;
  for (const given of ["yes", 1, [], {}, unsigned, { ...made, extra: 1 }, { ...made, version: 2 }]) {
    assert.equal(refusal(given), "malformed", JSON.stringify(given));
  }
});

test("it expires, and does not come from the future", () => {
  assert.equal(refusal(made, WHAT, made.issuedMs + ATTESTATION_MS - 1), null);
  assert.equal(refusal(made, WHAT, made.issuedMs + ATTESTATION_MS), "expired");
  assert.equal(refusal(made, WHAT, made.issuedMs - 6 * 60_000), "ahead");
  assert.equal(refusal(made, WHAT, made.issuedMs - 4 * 60_000), null);
});

test("an unknown key is refused, and so is one that was taken back", () => {
  const other = signingKey(join(folder, "other"));
  assert.notEqual(other.public, gateway.public);
  const statement = signApproval(other, WHAT, BY);
  assert.equal(refusal(statement), "unknown-key");
  worker.add("lab", other.public, "tester");
  assert.equal(refusal(statement), null);
  worker.remove("lab");
  assert.equal(refusal(statement), "unknown-key");
  // To name a trusted key does not help who does not have it.
  assert.equal(refusal({ ...statement, key: gateway.public }), "altered");
});

test("a signature the same key made for another purpose is none", () => {
  const { signature: _, ...body } = made;
  const elsewhere = sign(null, Buffer.from(canonicalJson(body)), gateway.private).toString("base64url");
  assert.equal(refusal({ ...made, signature: elsewhere }), "altered");
});

test("a gateway keeps its key, where only its owner reads it", () => {
  const state = join(folder, "gateway");
  assert.equal(signingKey(state).public, gateway.public);
  assert.match(gateway.public, /^ed25519:[\w-]{43}$/);
  assert.deepEqual(readdirSync(join(state, "fleet")), ["signing-key.pem"]);
  assert.equal(statSync(join(state, "fleet", "signing-key.pem")).mode & 0o777, 0o600);
  assert.equal(statSync(join(state, "fleet")).mode & 0o777, 0o700);
});

test("a key of another kind is not used", () => {
  const state = join(folder, "rsa");
  signingKey(state);
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  writeFileSync(join(state, "fleet", "signing-key.pem"), privateKey.export({ type: "pkcs8", format: "pem" }));
  assert.throws(() => signingKey(state), /type rsa/);
});

test("only a key that is one gets on the list, under one name", () => {
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
  // The last letter carries two bits too many: they must be zero.
  const last = gateway.public.at(-1) ?? "";
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  assert.throws(() => parsePublicKey(gateway.public.slice(0, -1) + letters[letters.indexOf(last) + 1]));
  assert.deepEqual(list.remove(gateway.public), added);
  assert.throws(() => list.remove("office"), /No such trusted gateway/);
});

test("an unreadable list trusts nobody, aloud", () => {
  const list = new TrustedKeys(join(folder, "worker"));
  const file = join(folder, "worker", "fleet", "trusted.json");
  assert.equal(statSync(file).mode & 0o777, 0o600);
  writeFileSync(file, "{}");
  chmodSync(file, 0o600);
  assert.throws(() => list.find(gateway.public), /cannot be read/);
});
