import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { TestService } from "../../fixtures/service.ts";
import { BODIES, type Described, describedOperations, pathOf } from "./described.ts";

/** The expected roles of each operation, listed a second time to catch mistakes in the operations themselves. */
const MAY: Record<string, string[]> = {
  me: ["viewer", "approver", "operator", "agent"],
  signOut: ["viewer", "approver", "operator", "agent"],
  createTicket: ["viewer", "approver", "operator", "agent"],
  listSessions: ["viewer", "approver", "operator", "agent"],
  run: ["operator", "agent"],
  getSession: ["viewer", "approver", "operator", "agent"],
  removeSession: ["operator", "agent"],
  readLogs: ["viewer", "approver", "operator", "agent"],
  downloadLogs: ["viewer", "approver", "operator", "agent"],
  searchLogs: ["viewer", "approver", "operator", "agent"],
  sendInput: ["operator", "agent"],
  sendKeys: ["operator", "agent"],
  paste: ["operator", "agent"],
  resize: ["operator", "agent"],
  signal: ["operator", "agent"],
  extend: ["operator", "agent"],
  wait: ["viewer", "approver", "operator", "agent"],
  screen: ["viewer", "approver", "operator", "agent"],
  picture: ["viewer", "approver", "operator", "agent"],
  recording: ["viewer", "approver", "operator", "agent"],
  usage: ["viewer", "approver", "operator", "agent"],
  listApprovals: ["viewer", "approver", "operator", "agent"],
  getApproval: ["viewer", "approver", "operator", "agent"],
  decide: ["approver", "operator"],
  listGrants: ["viewer", "approver", "operator"],
  revokeGrant: ["approver", "operator"],
  listRules: ["viewer", "approver", "operator"],
  addRule: ["operator"],
  tryRule: ["viewer", "approver", "operator"],
  removeRule: ["operator"],
  check: ["viewer", "approver", "operator", "agent"],
  searchAudit: ["viewer", "approver", "operator", "agent"],
  verifyAudit: ["viewer", "approver", "operator"],
  exportAudit: ["viewer", "approver", "operator"],
  listWork: ["viewer", "approver", "operator"],
  listAgents: ["viewer", "approver", "operator"],
  stats: ["viewer", "approver", "operator", "agent"],
  machine: ["viewer", "approver", "operator"],
  listTokens: ["operator"],
  createToken: ["operator"],
  revokeToken: ["operator"],
};
const ANYONE = ["signIn", "health", "ready", "describe"];
const ROLES = ["viewer", "approver", "operator", "agent"] as const;
/** Slow operations, which are only called once. */
const SLOW = new Set(["machine"]);

let service: TestService;
let all: Described[];
before(async () => {
  service = await TestService.start();
  all = await describedOperations(service);
});
after(() => service.close());

async function outcome(
  operation: Described,
  role: (typeof ROLES)[number] | null,
): Promise<{ status: number; type: string }> {
  const body = BODIES[operation.id];
  const stop = new AbortController();
  const response = await service.ask(role, pathOf(operation, "nobody-has-this-name"), {
    method: operation.method,
    signal: stop.signal,
    ...(body ? { body } : {}),
  });
  const isFailure = response.status >= 400;
  const { error } = (isFailure ? await response.json() : {}) as { error?: { type: string } };
  stop.abort();
  return { status: response.status, type: error?.type ?? "" };
}

test("the OpenAPI document lists the roles of every operation, and the tests have a body for each", () => {
  for (const { id, roles, body } of all) {
    if (ANYONE.includes(id)) assert.equal(roles, "anyone", id);
    else if (MAY[id]) assert.deepEqual([...roles].sort(), [...MAY[id]].sort(), id);
    else assert.ok(Array.isArray(roles) && !roles.includes("anyone"), id);
    if (body) assert.ok(BODIES[id], `BODIES has no body for ${id}`);
  }
  const described = new Set(all.map(({ id }) => id));
  assert.deepEqual(
    [...Object.keys(MAY), ...ANYONE].filter((id) => !described.has(id)),
    [],
  );
});

test("rejects every operation without a token", async () => {
  for (const operation of all) {
    if (operation.roles === "anyone") continue;
    assert.deepEqual(await outcome(operation, null), { status: 401, type: "NotSignedIn" }, operation.id);
  }
});

for (const role of ROLES) {
  test(`a token with the role ${role} can call exactly the permitted operations`, async () => {
    for (const operation of all) {
      if (operation.roles === "anyone" || (SLOW.has(operation.id) && role !== "viewer")) continue;
      const { status, type } = await outcome(operation, role);
      if (operation.roles.includes(role)) assert.notEqual(type, "NotPermitted", operation.id);
      else assert.deepEqual({ status, type }, { status: 403, type: "NotPermitted" }, operation.id);
      assert.ok(status < 500, `${operation.id}: ${status} ${type}`);
    }
    assert.deepEqual(service.failures, []);
  });
}
