import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { saveCall, workspaceOf } from "../../../src/hosts/calls.ts";

const state = mkdtempSync(join(tmpdir(), "sallyport-calls-"));
after(() => rmSync(state, { recursive: true, force: true }));

const call = {
  host: "codex",
  command: "true",
  cwd: "/",
  workspace: "/",
  readOnly: false,
  keepsDirectory: false,
  asked: null,
};

test("many calls do not displace the workspace of a conversation", () => {
  const conversation = { host: "codex", session: "s" };
  assert.equal(workspaceOf(state, conversation, "/project"), "/project");
  const [record = ""] = readdirSync(join(state, "hosts"));
  const hourAgo = new Date(Date.now() - 3600_000);
  utimesSync(join(state, "hosts", record), hourAgo, hourAgo);
  for (let count = 0; count < 1500; count++) saveCall(state, call);
  assert.equal(workspaceOf(state, conversation, "/elsewhere"), "/project");
});
