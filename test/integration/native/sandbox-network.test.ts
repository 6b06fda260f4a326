import assert from "node:assert/strict";
import { once } from "node:events";
import { chmodSync } from "node:fs";
import { type AddressInfo, createServer, type Server } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { sandboxCapabilities } from "../../../src/executor/native/probe.ts";
import { Cell, IDENTITIES } from "../../fixtures/sandbox-fixture.ts";

const tier = sandboxCapabilities();
const skip = tier.seccomp ? false : "needs seccomp";
const AF = { unix: "1", inet: "2", inet6: "10", netlink: "16", packet: "17", alg: "38", vsock: "40" } as const;
const SOCK = { stream: "1", dgram: "2", raw: "3" } as const;

async function listen(server: Server, where: number | string): Promise<Server> {
  if (typeof where === "number") server.listen(where, "127.0.0.1");
  else server.listen(where);
  await once(server, "listening");
  return server;
}

const greet = () => createServer((socket) => socket.on("error", () => {}).end("hello"));

for (const uid of IDENTITIES) {
  const cell = await Cell.open(uid);
  const attempt = cell.install("attempt");
  const servers: Server[] = [];
  let open = "";
  let shut = "";
  before(async () => {
    for (let i = 0; i < 2; i++) servers.push(await listen(greet(), 0));
    [open = "", shut = ""] = servers.map((server) => String((server.address() as AddressInfo).port));
    servers.push(await listen(greet(), join(cell.folder, "service")));
    chmodSync(join(cell.folder, "service"), 0o777);
    servers.push(await listen(greet(), `\0sallyport-${cell.folder}`));
  });
  after(async () => {
    for (const server of servers) server.close();
    await cell.close();
  });
  const tries = (network: "on" | "off" | { ports: number[] }) => {
    const sandbox = cell.sandbox({ network });
    return async (...what: string[]) => (await cell.run([attempt, ...what], sandbox)).stdout.trim();
  };

  test(`user ${uid} with the network on can use it, but neither abstract sockets from outside nor unusual socket families`, {
    skip,
  }, async () => {
    const tried = tries("on");
    assert.equal(await tried("connect-tcp", "127.0.0.1", open), "done");
    const service = join(cell.folder, "service");
    assert.equal(await tried("connect-unix", service), tier.socketBroker ? "EACCES" : "EPERM");
    assert.equal((await cell.run([attempt, "connect-unix", service], null)).stdout, "done\n");
    const abstract = ["connect-unix", `@sallyport-${cell.folder}`];
    assert.equal(await tried(...abstract), "EPERM");
    assert.equal((await cell.run([attempt, ...abstract], null)).stdout, "done\n");
    for (const family of [AF.inet, AF.inet6, AF.netlink]) {
      assert.match(await tried("socket", family, SOCK.dgram), /^(done|EAFNOSUPPORT)$/);
    }
    // A datagram socket could send to any other one. SOCK_RAW is a datagram socket as well.
    for (const type of [SOCK.dgram, SOCK.raw]) assert.equal(await tried("socket", AF.unix, type), "EPERM");
    assert.equal(await tried("stray-pair", service), "EPERM");
    assert.equal(await tried("socket", AF.unix, SOCK.stream), tier.socketBroker ? "done" : "EPERM");
    for (const family of [AF.packet, AF.alg, AF.vsock]) {
      assert.equal(await tried("socket", family, SOCK.dgram), "EAFNOSUPPORT", family);
    }
    assert.match(await tried("socket", AF.inet, SOCK.raw), /^(EPERM|EPROTONOSUPPORT)$/);
  });

  test(`user ${uid} with the network off has only its own loopback`, { skip }, async () => {
    const tried = tries("off");
    assert.match(await tried("connect-tcp", "127.0.0.1", open), tier.networkNamespace ? /^ECONNREFUSED$/ : /^EPERM$/);
    assert.match(await tried("connect-tcp", "1.1.1.1", "53"), tier.networkNamespace ? /^ENETUNREACH$/ : /^EPERM$/);
    assert.equal(await tried("bind-tcp", "4242"), tier.networkNamespace ? "done" : "EPERM");
    assert.equal(await tried("connect-unix", join(cell.folder, "service")), "EPERM");
    assert.equal(await tried("connect-unix", `@sallyport-${cell.folder}`), "EPERM");
    assert.equal(await tried("stray-pair", join(cell.folder, "service")), "EPERM");
    assert.equal(await tried("stream-pair"), "done");
    for (const family of [AF.packet, AF.alg, AF.vsock, AF.unix]) {
      assert.equal(await tried("socket", family, SOCK.dgram), "EPERM", family);
    }
  });

  const ports = tier.landlock < 4 ? "needs Landlock 4" : skip;
  test(`user ${uid} with listed ports can reach only these by TCP`, { skip: ports }, async () => {
    const tried = tries({ ports: [Number(open), 4243] });
    assert.equal(await tried("connect-tcp", "127.0.0.1", open), "done");
    assert.equal(await tried("connect-tcp", "127.0.0.1", shut), "EACCES");
    assert.equal(await tried("fast-open", "127.0.0.1", shut), "EPERM");
    assert.equal(await tried("bind-tcp", "4243"), "done");
    assert.equal(await tried("bind-tcp", "4244"), "EACCES");
    assert.equal(await tried("socket", AF.inet, SOCK.dgram), "EPERM");
    assert.equal(await tried("socket", AF.inet6, SOCK.raw), "EPERM");
    assert.equal(await tried("socket", AF.unix, SOCK.stream), "EPERM");
    assert.equal(await tried("socket", AF.netlink, SOCK.raw), "done", "name resolution could not read the routes");
    assert.equal(await tried("stray-pair", join(cell.folder, "service")), "EPERM");
  });

  test(`user ${uid} with port 53 can resolve names, and only then use UDP`, { skip: ports }, async () => {
    assert.equal(await tries({ ports: [53] })("socket", AF.inet, SOCK.dgram), "done");
    assert.equal(await tries({ ports: [443] })("socket", AF.inet, SOCK.dgram), "EPERM");
    assert.equal((await cell.run(["true"], cell.sandbox({ network: { ports: [53] } }))).record.gaps, undefined);
  });
}
