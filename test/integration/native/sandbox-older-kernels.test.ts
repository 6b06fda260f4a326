import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { sandboxCapabilities } from "../../../src/executor/native/probe.ts";
import { type Limits, limitedKeeper } from "../../fixtures/limited-keeper.ts";
import { Cell, IDENTITIES } from "../../fixtures/sandbox-fixture.ts";
import { Victim } from "../../fixtures/victim.ts";

const needsNamespaces = sandboxCapabilities().isolation ? false : "needs pid namespaces";

/** Kernels that lack the scopes of Landlock, which keep a command from other processes. */
const KERNELS: [name: string, limits: Limits][] = [
  ["Landlock ABI 5", { landlock: 5 }],
  ["Landlock ABI 5 and no broker", { landlock: 5, broker: false }],
  ["no Landlock", { landlock: 0 }],
  ["neither Landlock nor a broker", { landlock: 0, broker: false }],
];

for (const uid of IDENTITIES) {
  for (const [name, limits] of KERNELS) {
    describe(`commands of user ${uid} on a kernel with ${name}`, { skip: needsNamespaces }, () => {
      const inherited = process.env.SALLYPORT_KEEPER;
      let cell: Cell;
      let victim: Victim;
      before(async () => {
        process.env.SALLYPORT_KEEPER = limitedKeeper(limits);
        cell = await Cell.open(uid);
        victim = new Victim(uid);
      });
      after(async () => {
        await victim.end();
        await cell.close();
        if (inherited === undefined) delete process.env.SALLYPORT_KEEPER;
        else process.env.SALLYPORT_KEEPER = inherited;
      });

      for (const [profile, writable] of [
        ["workspace-write", undefined],
        ["read-only", []],
      ] as const) {
        const sandbox = () => cell.sandbox(writable ? { writable: [], temporary: null, binds: [] } : {});

        test(`cannot use /proc/PID/root of other processes in ${profile}`, async () => {
          const text = `cat /proc/${victim.pid}/root/etc/hostname /proc/${victim.pid}/environ /proc/1/root/etc/hostname; ls /proc/${victim.pid}/cwd/.; echo end`;
          const { stdout } = await cell.sh(text, sandbox());
          assert.equal(stdout, "end\n");
          assert.match((await cell.sh(`tr '\\0' '\\n' < /proc/${victim.pid}/environ`, null)).stdout, /treasure/);
        });

        test(`cannot signal other processes or change their priorities in ${profile}`, async () => {
          const { stdout } = await cell.sh(
            `kill -KILL ${victim.pid} && echo killed; renice -n 5 -p ${victim.pid} >/dev/null 2>&1 && echo reniced; kill -0 $$ && echo own`,
            sandbox(),
          );
          assert.equal(stdout, "own\n");
          assert.equal(victim.child.exitCode, null);
          assert.equal(victim.child.signalCode, null);
        });

        test(`sees only common devices, and cannot change settings of the kernel in ${profile}`, async () => {
          const text =
            'for d in /dev/*; do if [ -b "$d" ] || [ "$d" = /dev/kmsg ] || [ "$d" = /dev/mem ]; then head -c 1 "$d" > /dev/null && echo "$d"; fi; done; echo x > /proc/sys/kernel/core_pattern && echo changed; echo end';
          assert.equal((await cell.sh(text, sandbox())).stdout, "end\n");
        });
      }

      test("still starts, signals and reaps its own processes", async () => {
        const text =
          "sleep 100 & pid=$!; kill $pid; wait $pid; echo $?; (sleep 0.01; echo orphan > late) & wait; cat late";
        assert.equal((await cell.sh(text)).stdout, "143\norphan\n");
      });
    });
  }
}
