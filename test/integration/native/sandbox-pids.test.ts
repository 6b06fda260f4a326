import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { after, suite, test } from "node:test";
import { sandboxCapabilities } from "../../../src/executor/native/probe.ts";
import { type Limits, limitedKeeper } from "../../fixtures/limited-keeper.ts";
import { Cell, IDENTITIES } from "../../fixtures/sandbox-fixture.ts";

const tier = sandboxCapabilities();
const skip = tier.socketBroker ? false : "needs a socket broker";
const CALLS = ["nice", "nice-group", "io-priority", "affinity", "scheduler", "parameters", "attributes", "limit-of"];
const SIGNALS = ["signal", "signal-group", "tkill", "tgkill", "queue", "pidfd-signal"];
/** Names the receiver of a signal. Landlock allows that, and prevents the signal. */
const OWNERS = ["owner", "owner-group"];

/** Starts a process that is not part of the command, in its own session. */
async function outsider(uid: number): Promise<{ pid: number; end: () => Promise<unknown> }> {
  const child = spawn("sleep", ["600"], { detached: true, stdio: "ignore", uid, gid: uid });
  await once(child, "spawn");
  const ended = once(child, "exit");
  return {
    pid: child.pid as number,
    end: () => {
      child.kill("SIGKILL");
      return ended;
    },
  };
}

/** Opens a cell whose keeper finds only the given features. */
async function cellOf(limits: Limits, uid: number): Promise<Cell> {
  const before = process.env.SALLYPORT_KEEPER;
  process.env.SALLYPORT_KEEPER = limitedKeeper(limits);
  const cell = await Cell.open(uid);
  await cell.run(["true"], null);
  if (before === undefined) delete process.env.SALLYPORT_KEEPER;
  else process.env.SALLYPORT_KEEPER = before;
  return cell;
}

for (const uid of IDENTITIES) {
  suite(`calls of user ${uid} that name a process`, { skip }, async () => {
    const other = await outsider(uid);
    after(() => other.end());
    const old: Limits = { landlock: 5, namespaces: false };
    const contained: Limits = { ...old, broker: "pids" };

    for (const limits of [{}, old, contained]) {
      const signals = "landlock" in limits ? [...SIGNALS, ...OWNERS] : tier.landlock >= 6 ? SIGNALS : [];
      test(`reach only processes of the command: ${JSON.stringify(limits)}`, async () => {
        const cell = await cellOf(limits, uid);
        const attempt = cell.install("attempt");
        try {
          const outside = String(other.pid);
          for (const call of [...CALLS, ...signals]) {
            const denied = (await cell.run([attempt, call, outside], cell.sandbox())).stdout.trim();
            assert.equal(denied, "EPERM", `${call} of a process outside`);
            assert.equal((await cell.run([attempt, call, outside], null)).stdout.trim(), "done", `${call}, free`);
          }
          for (const call of [...CALLS, ...SIGNALS, ...OWNERS]) {
            const own = (await cell.run([attempt, call, "child"], cell.sandbox())).stdout.trim();
            const refused = "landlock" in limits && OWNERS.includes(call);
            assert.equal(own, refused ? "EPERM" : "done", `${call} of a child`);
            const self = (await cell.run([attempt, call, "self"], cell.sandbox())).stdout.trim();
            assert.equal(self, "done", `${call} of itself`);
          }
          for (const call of ["nice-user", "io-priority-user"]) {
            assert.equal((await cell.run([attempt, call, "self"], cell.sandbox())).stdout.trim(), "EPERM", call);
          }
        } finally {
          await cell.close();
        }
      });
    }

    test("need no broker that can take sockets", async () => {
      const cell = await cellOf(contained, uid);
      const attempt = cell.install("attempt");
      try {
        const { record } = await cell.run([attempt, "socket", "1", "1"], cell.sandbox());
        assert.deepEqual([...(record.gaps ?? [])].sort(), ["ipc", "metadata", "mounts"]);
        assert.equal((await cell.run([attempt, "socket", "1", "1"], cell.sandbox())).stdout, "EPERM\n");
        const ports = cell.sandbox({ network: { ports: [443] } });
        const listening = await cell.run([cell.install("escape"), "listen-unbound"], ports);
        assert.match(listening.stderr, /Operation not permitted/);
      } finally {
        await cell.close();
      }
    });

    test("signal all processes of the command, and no others, with kill -1", async () => {
      const cell = await cellOf(old, uid);
      try {
        const both = "sleep 600 & one=$!; sleep 600 & kill -TERM -1; wait $!; echo $?; wait $one; echo $?";
        assert.equal((await cell.sh(both)).stdout, "143\n143\n");
        process.kill(other.pid, 0);
        const script =
          "sleep 600 & kill -TERM $!; wait $!; echo $?; setsid --wait bash -c 'kill -TERM 0; sleep 600'; echo $?";
        assert.equal((await cell.sh(script)).stdout, "143\n143\n");
      } finally {
        await cell.close();
      }
    });

    test("are refused for all other processes without a broker", async () => {
      const cell = await cellOf({ broker: false }, uid);
      const attempt = cell.install("attempt");
      try {
        for (const call of CALLS.filter((each) => each !== "nice-group")) {
          assert.equal((await cell.run([attempt, call, String(other.pid)], cell.sandbox())).stdout, "EPERM\n", call);
          assert.equal((await cell.run([attempt, call, "0"], cell.sandbox())).stdout, "done\n", call);
        }
        assert.equal((await cell.run([attempt, "socket", "1", "1"], cell.sandbox())).stdout, "EPERM\n");
        assert.equal((await cell.run([attempt, "stream-pair"], cell.sandbox())).stdout, "done\n");
        assert.equal((await cell.run([attempt, "bind-tcp", "0"], cell.sandbox())).stdout, "done\n");
      } finally {
        await cell.close();
      }
    });
  });
}
