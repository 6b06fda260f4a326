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

/** Runs a gateway that is killed at `step`. Does not block, so that concurrent tests do not time out. */
function dieAt(step: string, manner: string, command: string): Promise<Died> {
  const args = [DIES_AT, fixture.state, fixture.workspace, step, manner, command];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { env: fixture.env }, (error, stdout, stderr) => {
      resolve({ signal: error?.signal ?? null, stdout, stderr });
    });
  });
}

/** Commands that append a line to a file. The second one cannot be analyzed and requires approval. */
const COMMANDS: [string, (file: string) => string][] = [
  ["an allowed command", (file) => `echo ran >> ${file}`],
  ["an approved command", (file) => `eval "$(printf 'echo ran >> ${file}')"`],
];

// The tests are concurrent, because a session that was recorded but never launched is abandoned only after 10 s.
describe("a killed gateway runs no command twice and leaves none unrecorded", { concurrency: 4 }, () => {
  for (const manner of ["foreground", "background"]) {
    for (const [what, commandFor] of COMMANDS) {
      for (const step of STEPS) {
        test(`killed at "${step}" of ${what} in the ${manner}`, async () => {
          const file = fixture.path(`${manner}-${what.replaceAll(" ", "-")}-${step}`);
          const command = commandFor(file);
          const child = await dieAt(step, manner, command);
          const asks = what === "an approved command";
          if (step === "asked" && !asks) assert.equal(child.stdout, "survived\n", child.stderr);
          else assert.equal(child.signal, "SIGKILL", child.stderr);

          const entries = gateway.audit.search({ text: file, limit: 50 });
          const runs = entries.filter(({ kind }) => kind === "run");
          const sessions = new Set(runs.map(({ session }) => session));
          await until("the command has ended", () => [...sessions].every((id) => id === null || settled(id)), 60_000);

          // Every run has one audit entry, and no command runs twice.
          const times = existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean).length : 0;
          assert.ok(times <= runs.length, `the command ran ${times} times with ${runs.length} audit entries`);
          assert.ok(times <= 1);
          for (const id of sessions) {
            const info = gateway.session(id ?? "").info();
            assert.ok(["completed", "failed"].includes(info.status), info.status);
            assert.equal(info.status === "completed", times === 1);
            // A background session that ended has exactly one callback, others have none.
            const callbacks = gateway.work
              .list({ state: "all", limit: 1000 })
              .filter(({ key }) => key.includes(info.id));
            assert.equal(callbacks.length, manner === "background" ? 1 : 0);
          }
          // No approval is used twice: a used one names its session.
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

/** Reports whether a session has ended. The open gateway settles the sessions that the killed one left. */
function settled(id: string): boolean {
  return gateway.session(id).info().status !== "running";
}

test("a command whose gateway was killed between approval and launch can be requested again and runs once", async () => {
  const file = fixture.path("again");
  const command = `eval "$(printf 'echo ran >> ${file}')"`;
  assert.equal((await dieAt("authorized", "foreground", command)).signal, "SIGKILL");
  const result = await gateway.run({ command });
  assert.equal(result.status, "completed");
  assert.equal(readFileSync(join(file), "utf8"), "ran\n");
  assert.equal(gateway.approvals.get(result.approvalId ?? "").status, "used");
});
