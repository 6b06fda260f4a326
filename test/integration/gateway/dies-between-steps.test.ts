import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Gateway } from "../../../src/gateway/gateway.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";
import { until } from "../../fixtures/until.ts";

const DIES_AT = fileURLToPath(new URL("../../fixtures/dies-at.ts", import.meta.url));
const STEPS = ["decided", "asked", "authorized", "prepared", "recorded", "launched"];

let fixture: GatewayFixture;
let gateway: Gateway;
before(async () => {
  fixture = new GatewayFixture();
  gateway = await fixture.open();
});
after(() => fixture.close());

interface Died {
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

/** Not waited for in a standstill: the others' patience would run out meanwhile. */
function dieAt(step: string, manner: string, command: string): Promise<Died> {
  const args = [DIES_AT, fixture.state, fixture.workspace, step, manner, command];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { env: fixture.env }, (error, stdout, stderr) => {
      resolve({ signal: error?.signal ?? null, stdout, stderr });
    });
  });
}

/** Leaves a line in a file each time it runs. The second form cannot be analysed, so a person is asked. */
const COMMANDS: [string, (file: string) => string][] = [
  ["an allowed command", (file) => `echo ran >> ${file}`],
  ["an approved command", (file) => `eval "$(printf 'echo ran >> ${file}')"`],
];

// Side by side: what was recorded but never claimed is given up only after a while.
describe("a gateway that dies", { concurrency: 4 }, () => {
  for (const manner of ["foreground", "background"]) {
    for (const [what, commandFor] of COMMANDS) {
      for (const step of STEPS) {
        test(`the gateway dies at "${step}" of ${what} in the ${manner}`, async () => {
          const file = fixture.path(`${manner}-${what.replaceAll(" ", "-")}-${step}`);
          const command = commandFor(file);
          const child = await dieAt(step, manner, command);
          const asks = what === "an approved command";
          if (step === "asked" && !asks) assert.equal(child.stdout, "survived\n", child.stderr);
          else assert.equal(child.signal, "SIGKILL", child.stderr);

          const entries = gateway.audit.search({ text: file, limit: 50 });
          const runs = entries.filter(({ kind }) => kind === "run");
          const sessions = new Set(runs.map(({ session }) => session));
          await until("the command is over", () => [...sessions].every((id) => id === null || settled(id)), 60_000);

          // No run without its audit entry, and none twice.
          const times = existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean).length : 0;
          assert.ok(times <= runs.length, `ran ${times} times with ${runs.length} entries`);
          assert.ok(times <= 1);
          for (const id of sessions) {
            const info = gateway.session(id ?? "").info();
            assert.ok(["completed", "failed"].includes(info.status), info.status);
            assert.equal(info.status === "completed", times === 1);
            // Exactly one callback for a background session that ended, none for others.
            const callbacks = gateway.work
              .list({ state: "all", limit: 1000 })
              .filter(({ key }) => key.includes(info.id));
            assert.equal(callbacks.length, manner === "background" ? 1 : 0);
          }
          // No approval used twice: what was used names the one session it was used for.
          const approvals = gateway.approvals
            .list({ limit: 1000 })
            .filter(({ request }) => request.command.text.includes(file));
          for (const { status, session } of approvals) {
            if (status === "used") assert.ok(session !== null && sessions.has(session));
          }
          assert.ok(approvals.length <= (asks ? 1 : 0));
          assert.equal(gateway.audit.verify().broken, null);
        });
      }
    }
  }
});

/** Whatever the dead gateway left is settled by whoever looks. */
function settled(id: string): boolean {
  return gateway.session(id).info().status !== "running";
}

test("what died after it was approved but before it ran can be asked for again and runs once", async () => {
  const file = fixture.path("again");
  const command = `eval "$(printf 'echo ran >> ${file}')"`;
  assert.equal((await dieAt("authorized", "foreground", command)).signal, "SIGKILL");
  const result = await gateway.run({ command });
  assert.equal(result.status, "completed");
  assert.equal(readFileSync(join(file), "utf8"), "ran\n");
  assert.equal(gateway.approvals.get(result.approvalId ?? "").status, "used");
});
