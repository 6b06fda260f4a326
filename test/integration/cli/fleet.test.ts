import assert from "node:assert/strict";
import { after, test } from "node:test";
import { ENTRY, Sandbox } from "../../fixtures/sallyport.ts";

const box = new Sandbox();
after(() => box.remove());

test("fleet key prints the same public key each time", async () => {
  const [first, second, json] = await Promise.all([
    box.run(["fleet", "key"]),
    box.run(["fleet", "key"]),
    box.run(["fleet", "key", "--json"]),
  ]);
  assert.match(first.stdout, /^ed25519:[\w-]{43}\n$/);
  assert.equal(second.stdout, first.stdout);
  assert.deepEqual(JSON.parse(json.stdout), { key: first.stdout.trim() });
});

test("fleet trust adds, lists and removes gateways, and audits each change", async () => {
  const { stdout } = await box.run(["fleet", "key"]);
  const key = stdout.trim();
  assert.equal((await box.run(["fleet", "trust"])).stdout, "");
  assert.equal((await box.run(["fleet", "trust", "add", "office", key])).code, 0);
  const { stdout: listed } = await box.run(["fleet", "trust", "list"]);
  assert.ok(listed.startsWith(`office\t${key}\t20`), listed);
  const { stdout: json } = await box.run(["fleet", "trust", "remove", "office", "--json"]);
  assert.equal(JSON.parse(json)[0].key, key);
  assert.equal((await box.run(["fleet", "trust"])).stdout, "");
  const { stdout: audit } = await box.run(["audit", "search", "office", "--json"]);
  assert.match(audit, /"trusted"/);
  assert.match(audit, /"distrusted"/);
});

test("an approved command cannot make its own gateway trusted", async () => {
  const { stdout } = await box.run(["fleet", "key"]);
  const self = ["fleet", "trust", "add", "me", stdout.trim()];
  const asked = ["--sandbox", "off", "--", process.execPath, ENTRY, ...self];
  // A background command does not wait for approval.
  const pending = await box.run(["run", "-d", ...asked]);
  assert.notEqual(pending.code, 0);
  assert.match(pending.stderr, /approv/);
  const [{ id }] = JSON.parse((await box.run(["approvals", "--json"])).stdout) as [{ id: string }];
  assert.equal((await box.run(["approve", id])).code, 0);
  const { code, stderr } = await box.run(["run", ...asked]);
  assert.notEqual(code, 0);
  assert.match(stderr, /inside a Sallyport session/);
  assert.equal((await box.run(["fleet", "trust"])).stdout, "");
});

test("fleet permissions prints server configuration, nsc commands or JSON", async () => {
  const asked = ["fleet", "permissions", "--worker", "web-1", "--name", "lab"];
  const [config, nsc, json] = await Promise.all([[], ["--nsc"], ["--json"]].map((how) => box.run([...asked, ...how])));
  assert.match(config?.stdout ?? "", /^# Members of the fleet lab[\s\S]*# worker web-1\n {6}nkey: PUBLIC_NKEY_HERE/);
  assert.match(nsc?.stdout ?? "", /^nsc add user --name worker-web-1 \\\n {2}--allow-pub '\$JS\.API\.INFO,/);
  const [{ permissions }] = JSON.parse(json?.stdout ?? "") as [{ permissions: { subscribe: string[] } }];
  assert.deepEqual(permissions.subscribe, ["_INBOX.lab.worker.web-1.>", "sp.lab.ctl.web-1.>", "sp.lab.node.web-1.*"]);
});

for (const [args, complaint] of [
  [[], /no subcommand given; use key, trust, permissions or setup/],
  [["keys"], /unknown subcommand `fleet keys`; use key, trust, permissions or setup/],
  [["key", "x"], /unexpected argument `x`/],
  [["trust", "x"], /unknown subcommand `fleet trust x`; use list, add or remove/],
  [["trust", "list", "x"], /unexpected argument `x`/],
  [["trust", "add", "office"], /requires a name and the key/],
  [["trust", "add", "office", "nonsense"], /not the public key of a gateway/],
  [["trust", "add", "office", "a", "b"], /takes one gateway/],
  [["trust", "remove"], /no gateway given/],
  [["trust", "remove", "nobody"], /No such trusted gateway: "nobody"/],
  [["permissions"], /no members given/],
  [["permissions", "x"], /unexpected argument `x`/],
  [["permissions", "--agent", "a"], /`--agent` requires `--gateway`/],
  [["permissions", "--gateway", "a", "--labels", "gpu=yes"], /`--labels` requires `--worker`/],
  [["permissions", "--worker", "a", "--labels", "gpu"], /such as gpu=yes/],
  [["permissions", "--worker", "a.b"], /not a valid name for a worker/],
] as const) {
  test(`rejects fleet ${args.join(" ")}`, async () => {
    const { code, stderr } = await box.run(["fleet", ...args]);
    assert.equal(code, 125);
    assert.match(stderr, complaint);
  });
}
