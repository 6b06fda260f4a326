import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, linkSync, mkdirSync, symlinkSync } from "node:fs";
import { type AddressInfo, createServer, type Server } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { SandboxSpec } from "../../../src/core/launch.ts";
import { sandboxCapabilities } from "../../../src/executor/native/probe.ts";
import { compile } from "../../fixtures/compile.ts";
import { Cell, IDENTITIES } from "../../fixtures/sandbox-fixture.ts";
import { until } from "../../fixtures/until.ts";

const tier = sandboxCapabilities();
const skip = tier.socketBroker ? false : "needs a socket broker";

async function serve(where: string | number, greeting: string, uid?: number): Promise<Server> {
  const server = createServer((socket) => socket.on("error", () => {}).end(greeting));
  if (typeof where === "number") server.listen(where, "127.0.0.1");
  else server.listen(where);
  await once(server, "listening");
  if (uid !== undefined && typeof where === "string") {
    chownSync(where, uid, uid);
    chmodSync(where, 0o777);
  }
  return server;
}

for (const uid of IDENTITIES) {
  const cell = await Cell.open(uid);
  const program = cell.install("connect");
  const servers: Server[] = [];
  const outside = join(cell.folder, "outside");
  let port = "";
  before(async () => {
    servers.push(await serve(join(cell.workspace, "inside"), "inside", uid));
    servers.push(await serve(outside, "outside", uid));
    servers.push(await serve(join(cell.own(join(cell.folder, "listed")), "one"), "listed", uid));
    servers.push(await serve(join(cell.secret, "one"), "secret", uid));
    const tcp = await serve(0, "tcp");
    servers.push(tcp);
    port = String((tcp.address() as AddressInfo).port);
  });
  after(async () => {
    for (const server of servers) server.close();
    await cell.close();
  });
  const tries = async (words: string[], rest: Partial<SandboxSpec> = {}) =>
    (await cell.run([program, ...words], cell.sandbox(rest))).stdout.trim();
  /** Prints the greeting that the command receives without a sandbox, or the error. */
  const free = async (...words: string[]) => (await cell.run([program, ...words], null)).stdout.trim();

  test(`user ${uid} can connect only to Unix sockets in writable paths`, { skip }, async () => {
    const link = join(cell.workspace, "link");
    symlinkSync(outside, link);
    symlinkSync(cell.folder, join(cell.workspace, "up"));
    assert.equal(await tries(["greet", join(cell.workspace, "inside")]), "inside");
    assert.equal(await tries(["greet", "inside"]), "inside");
    for (const path of [outside, "../outside", link, "link", "up/outside"]) {
      assert.equal(await tries(["greet", path]), "EACCES", path);
      assert.equal(await free("greet", path), "outside", path);
    }
    for (const path of [`/proc/self/root${outside}`, "/proc/self/cwd/../outside", "/proc/thread-self/cwd/up/outside"]) {
      assert.equal(await tries(["greet", path]), "ELOOP", path);
      assert.equal(await free("greet", path), "outside", path);
    }
    assert.equal(await tries(["greet", join(cell.workspace, "missing")]), "ENOENT");
    assert.equal(await tries(["greet", program]), "ECONNREFUSED");
  });

  test(`user ${uid} cannot connect to an outside socket through a hard link that it makes`, { skip }, async () => {
    const { stdout } = await cell.sh(`ln ${outside} hard && ${program} greet hard || echo denied`);
    assert.equal(stdout, "denied\n");
    linkSync(outside, join(cell.workspace, "hard"));
    assert.equal(await free("greet", "hard"), "outside");
  });

  test(`user ${uid} can connect to listed sockets, even where they are masked`, { skip }, async () => {
    const folder = join(cell.folder, "listed");
    const one = join(folder, "one");
    assert.equal(await tries(["greet", one]), "EACCES");
    for (const sockets of [[one], [folder]]) {
      assert.equal(await tries(["greet", one], { sockets }), "listed");
      assert.equal(await tries(["greet", one], { sockets, masked: [folder] }), "listed");
      assert.equal(await tries(["greet", outside], { sockets }), "EACCES");
    }
    assert.match(await tries(["greet", one], { sockets: [`${folder}/on`] }), /^EACCES$/);
    // A denied path stays denied, unless it is listed itself.
    const denied = join(cell.secret, "one");
    assert.match(await tries(["greet", denied], { sockets: [cell.folder] }), /^(EACCES|ENOENT)$/);
    assert.equal(await tries(["greet", denied], { sockets: [denied] }), "secret");
  });

  test(`user ${uid} cannot connect to sockets in denied, masked or protected paths`, { skip }, async () => {
    const folder = cell.own(join(cell.workspace, "sub"));
    const server = await serve(join(folder, "one"), "sub", uid);
    const path = join(folder, "one");
    try {
      assert.equal(await tries(["greet", path]), "sub");
      assert.match(await tries(["greet", path], { denied: [cell.state, folder] }), /^(EACCES|ENOENT)$/);
      assert.match(await tries(["greet", path], { masked: [folder] }), /^(EACCES|ENOENT)$/);
      assert.equal(await tries(["greet", path], { readOnly: [folder] }), "EACCES");
      assert.equal(await tries(["greet", path], { writable: [] }), "EACCES");
    } finally {
      server.close();
    }
  });

  test(`user ${uid} can serve and connect in the workspace, its temporary directory and the abstract namespace`, {
    skip,
  }, async () => {
    for (const isolated of tier.isolation ? [false, true] : [false]) {
      const kind = isolated ? "isolated" : "plain";
      for (const way of ["serve", "serve-packets"]) {
        for (const place of [cell.workspace, cell.temporary])
          assert.equal(await tries([way, join(place, `${kind}-${way}`)], { isolated }), "done", place);
        assert.equal(await tries([way, `@${kind}-${way}-${cell.folder}`], { isolated }), "done");
      }
    }
    if (tier.mounts === "none") return;
    assert.equal(await tries(["serve", "/dev/shm/served-in-memory"]), "done");
    const binds = [{ at: "/tmp", source: cell.own(join(cell.folder, "private")) }];
    for (const isolated of tier.isolation ? [false, true] : [false]) {
      assert.equal(await tries(["serve", `/tmp/served-${isolated}`], { isolated, binds }), "done");
    }
    assert.equal(await tries(["greet", "/tmp/served-false"]), "ENOENT");
  });

  test(`user ${uid} has concurrent commands judged by their own rules`, { skip }, async () => {
    const one = join(cell.folder, "listed", "one");
    const lane = async (sockets: string[], answer: string) => {
      for (let round = 0; round < 40; round++) assert.equal(await tries(["greet", one], { sockets }), answer);
    };
    await Promise.all([0, 1, 2].flatMap(() => [lane([one], "listed"), lane([], "EACCES")]));
  });

  test(`user ${uid} cannot win a race with the broker`, { skip }, async () => {
    const inside = join(cell.workspace, "inside");
    assert.doesNotMatch(await tries(["race-address", inside, outside]), /outside/);
    assert.equal(await tries(["race-descriptor", inside, outside]), "");
    assert.match(await free("race-address", inside, outside), /outside/);
    const [one, other] = ["one", "other"].map((name) => join(cell.workspace, name)) as [string, string];
    mkdirSync(one);
    symlinkSync(inside, join(one, "socket"));
    symlinkSync(cell.folder, other);
    symlinkSync(outside, join(cell.folder, "socket"));
    const swap = spawn(compile("swap"), [one, other], { stdio: "ignore" });
    try {
      const loop = `for i in $(seq 100); do ${program} greet one/socket; done | sort -u`;
      assert.doesNotMatch((await cell.sh(loop)).stdout, /outside/);
      await until("the race is won without a sandbox", async () =>
        (await cell.sh(loop, null)).stdout.includes("outside"),
      );
    } finally {
      swap.kill("SIGKILL");
      await once(swap, "exit");
    }
  });

  test(`user ${uid} can connect by TCP in all ways`, { skip }, async () => {
    assert.equal(await tries(["non-blocking", port]), "done");
    assert.equal(await tries(["non-blocking", "1"]), "ECONNREFUSED");
    assert.equal(await tries(["many", port]), "200");
    assert.equal(await tries(["interrupted"]), "EINTR");
    assert.equal(await tries(["restarted"]), "done");
  });

  test(`a keeper of user ${uid} can kill a command that is blocked in connect`, { skip }, async () => {
    const { record, stdout } = await cell.run([program, "blocked"], cell.sandbox(), { timeoutMs: 1500, graceMs: 500 });
    assert.deepEqual([stdout, record.reason], ["blocked\n", "timeout"]);
    assert.equal(await tries(["greet", "inside"]), "inside");
  });

  test(`user ${uid} with listed ports cannot listen on others`, {
    skip: tier.landlock < 4 ? "needs Landlock 4" : skip,
  }, async () => {
    const network = { ports: [4251] };
    assert.equal(await tries(["listen-unbound"], { network }), "EACCES");
    assert.equal(await tries(["listen-bound", "4251"], { network }), "done");
    assert.equal(await tries(["listen-unbound"]), "done");
  });
}

test("a command of another user connects with the privileges of that user", {
  skip: IDENTITIES.length < 2 ? "needs root" : skip,
}, async () => {
  const cell = await Cell.open();
  const program = cell.install("connect");
  const [plain = 0, other = 0] = IDENTITIES;
  const user = { uid: other, gid: other, groups: [other] };
  for (const folder of [cell.workspace, cell.temporary]) chownSync(folder, other, other);
  const servers = [
    await serve(join(cell.workspace, "theirs"), "theirs", other),
    await serve(join(cell.workspace, "roots"), "roots", plain),
  ];
  chmodSync(join(cell.workspace, "roots"), 0o600);
  try {
    const tries = async (...words: string[]) =>
      (await cell.run([program, ...words], cell.sandbox({ user }))).stdout.trim();
    assert.equal(await tries("greet", "theirs"), "theirs");
    assert.equal(await tries("greet", "roots"), "EACCES");
    for (const name of ["served", `@user-${cell.folder}`]) assert.equal(await tries("serve", name), "done");
    assert.equal(await tries("serve-packets", join(cell.temporary, "served")), "done");
  } finally {
    for (const server of servers) server.close();
    await cell.close();
  }
});
