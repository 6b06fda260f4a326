import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { ApprovalDecision, Quorum } from "../../../src/core/approval.ts";
import { ApprovalFixture } from "../../fixtures/approvals.ts";

const fixture = new ApprovalFixture();
after(() => fixture.remove());

const THREE = ["ann", "bob", "cy"];
const FOUR = [...THREE, "dan"];

/** Decisions in order (`ann+` approves, `bob-` denies), and the status after each. */
const TABLE: [rule: Quorum["rule"], approvers: string[], decisions: string, statuses: string][] = [
  ["any", [], "zoe+", "approved"],
  ["any", [], "zoe-", "denied"],
  ["any", THREE, "bob+", "approved"],
  ["any", THREE, "cy-", "denied"],
  ["majority", ["ann"], "ann+", "approved"],
  ["majority", ["ann"], "ann-", "denied"],
  ["majority", THREE, "ann+ bob+", "pending approved"],
  ["majority", THREE, "ann- bob+ cy+", "pending pending approved"],
  ["majority", THREE, "ann- bob-", "pending denied"],
  ["majority", THREE, "ann+ bob- cy-", "pending pending denied"],
  ["majority", FOUR, "ann+ bob+ cy+", "pending pending approved"],
  ["majority", FOUR, "ann+ bob+ cy- dan-", "pending pending pending denied"],
  ["majority", FOUR, "ann- bob-", "pending denied"],
  ["unanimous", THREE, "ann+ bob+ cy+", "pending pending approved"],
  ["unanimous", THREE, "ann+ bob-", "pending denied"],
  ["unanimous", THREE, "cy-", "denied"],
  ["unanimous", ["ann"], "ann+", "approved"],
];

function decisionOf(text: string): ApprovalDecision {
  return { decision: text.endsWith("+") ? "once" : "deny", who: text.slice(0, -1), channel: "cli" };
}

for (const [index, [rule, approvers, decisions, statuses]] of TABLE.entries()) {
  test(`rule ${rule} of [${approvers}]: decisions ${decisions} result in ${statuses}`, () => {
    const approvals = fixture.approvals({ quorum: { rule, approvers } });
    const { id } = approvals.request(fixture.asked({ command: `ls /quorum/${index}` }));
    assert.equal(
      decisions
        .split(" ")
        .map((each) => approvals.decide(id, decisionOf(each)).status)
        .join(" "),
      statuses,
    );
  });
}

test("rejects decisions by people who are not approvers, and a second decision by the same person", () => {
  const approvals = fixture.approvals({ quorum: { rule: "majority", approvers: THREE } });
  const { id } = approvals.request(fixture.asked({ command: "ls /quorum/others" }));
  assert.throws(() => approvals.decide(id, decisionOf("zoe+")), {
    type: "NotAnApprover",
    message: "`zoe` is not an approver of this request.",
  });
  approvals.decide(id, decisionOf("ann+"));
  assert.throws(() => approvals.decide(id, decisionOf("ann+")), {
    type: "AlreadyDecided",
    message: /Each person can decide once/,
  });
  assert.throws(() => approvals.decide(id, decisionOf("ann-")), { type: "AlreadyDecided" });
  assert.equal(approvals.get(id).status, "pending");
});

test("creates a grant only when all approvers choose `always` with the same scope", () => {
  const quorum: Quorum = { rule: "unanimous", approvers: ["ann", "bob"] };
  const always = { decision: "always", channel: "cli", grant: { expiresMs: 1000 } } as const;
  const outcomes: [ApprovalDecision, ApprovalDecision, number][] = [
    [{ ...always, who: "ann" }, { ...always, who: "bob" }, 1],
    [{ ...always, who: "ann" }, { decision: "once", who: "bob", channel: "cli" }, 0],
    [{ ...always, who: "ann" }, { ...always, who: "bob", grant: {} }, 0],
  ];
  for (const [index, [first, second, grants]] of outcomes.entries()) {
    const approvals = fixture.approvals({ quorum });
    const { id } = approvals.request(fixture.asked({ command: `ls /quorum/grant/${index}` }));
    approvals.decide(id, first);
    assert.equal(approvals.decide(id, second).status, "approved");
    assert.equal(approvals.grants.list().filter(({ approval }) => approval === id).length, grants);
  }
});

test("rejects an invalid quorum", () => {
  const faults: [Quorum, RegExp][] = [
    [{ rule: "majority", approvers: [] }, /must not be empty/],
    [{ rule: "unanimous", approvers: [] }, /must not be empty/],
    [{ rule: "any", approvers: ["ann", "ann"] }, /contains duplicate names/],
    [{ rule: "most" as "any", approvers: [] }, /must be any, majority or unanimous/],
  ];
  for (const [quorum, message] of faults) {
    assert.throws(() => fixture.approvals({ quorum }), { type: "InvalidRequest", message });
  }
});
