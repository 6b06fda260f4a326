import assert from "node:assert/strict";
import { test } from "node:test";
import { SallyportError } from "../../../src/core/error.ts";
import type { SessionInfo } from "../../../src/core/session.ts";
import { RemoteExecution } from "../../../src/fleet/remote-execution.ts";

const RUNNING = { id: "x", agent: "default", host: "h1", pid: 1, status: "running", pty: null, capture: "merged" };

/** One whose worker refuses whatever it is asked, with this. */
function visitOf(type: "CommandDenied" | "HostSilent", told: object[], closing = new AbortController().signal) {
  const ties = () => Promise.reject(new SallyportError(type, "no", []));
  const looks = told.map((changes) => ({ ...RUNNING, ...changes }) as SessionInfo);
  const look = async () => (looks.length > 1 ? looks.shift() : looks[0]) ?? null;
  return new RemoteExecution({ ...RUNNING, ...told[0] } as SessionInfo, ties, look, () => {}, closing);
}

test("whoever may not wait is told so", async () => {
  await assert.rejects(visitOf("CommandDenied", [{}]).exited, { type: "CommandDenied" });
});

test("a worker that was not heard is asked again how the session is", async () => {
  assert.equal(await visitOf("HostSilent", [{}, {}, { status: "completed", lingering: false }]).ended, "detached");
});

test("after the gateway was closed nobody is asked", async () => {
  assert.equal(await visitOf("CommandDenied", [{}], AbortSignal.abort()).exited, "detached");
});

test("whether it is on a terminal is as its worker told, and asked where that may not be known yet", async () => {
  assert.equal(await visitOf("CommandDenied", [{ pty: { columns: 80, rows: 24 } }]).onTerminal(), true);
  assert.equal(await visitOf("CommandDenied", [{ capture: "apart" }]).onTerminal(), false);
  await assert.rejects(visitOf("CommandDenied", [{}]).onTerminal(), { type: "CommandDenied" });
});
