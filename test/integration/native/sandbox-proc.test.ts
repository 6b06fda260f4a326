import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { sandboxCapabilities } from "../../../src/executor/native/probe.ts";
import { Cell, IDENTITIES } from "../../fixtures/sandbox-fixture.ts";
import { Victim } from "../../fixtures/victim.ts";

const tier = sandboxCapabilities();
const needsNamespaces = tier.isolation ? false : "needs pid namespaces";

for (const uid of IDENTITIES) {
  describe(`commands of user ${uid} and processes of the same user`, () => {
    let cell: Cell;
    let victim: Victim;
    before(async () => {
      cell = await Cell.open(uid);
      victim = new Victim(uid);
    });
    after(async () => {
      await victim.end();
      await cell.close();
    });

    test("the keeper of root hides command lines and environments of others", {
      skip: tier.mounts === "root" && uid === 0 && tier.landlock > 0 ? false : "needs a keeper of root and Landlock",
    }, async () => {
      const text = `cat /proc/${victim.pid}/cmdline /proc/${victim.pid}/environ /proc/${process.pid}/cmdline /proc/1/stat; ls -d /proc/[0-9]* | wc -l; cat /proc/self/comm; ls /proc/$$/fd > /dev/null && echo own`;
      const { stdout } = await cell.sh(text);
      assert.match(stdout, /^[1-4]\ncat\nown\n$/);
      assert.match(
        (await cell.sh(`cat /proc/${victim.pid}/cmdline`, null)).stdout,
        /^sleep/,
        "visible without a sandbox",
      );
    });

    test("without network, the network of the machine is not visible in /proc", { skip: needsNamespaces }, async () => {
      const text = `for pid in 1 ${victim.pid} ${process.pid} self; do cat /proc/$pid/net/dev 2>/dev/null | tail -n +3 | grep -v "^ *lo:"; done; echo end`;
      assert.equal((await cell.sh(text, cell.sandbox({ network: "off" }))).stdout, "end\n");
      assert.equal(
        (await cell.sh("cat /proc/net/dev | wc -l", cell.sandbox({ network: "off" }))).stdout,
        "3\n",
        "only lo",
      );
    });
  });
}
