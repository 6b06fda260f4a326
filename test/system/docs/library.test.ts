import assert from "node:assert/strict";
import { test } from "node:test";
import { RunRequest } from "../../../src/core/request.ts";
import { Gateway } from "../../../src/gateway/gateway.ts";
import { Session } from "../../../src/session/session.ts";
import { pages } from "./pages.ts";

const reference = pages().find(({ path }) => path === "docs/library-api.md")?.text ?? "";
/** Called by `openGateway` and by toolsets, not by users of a gateway. */
const INTERNAL = [
  "constructor",
  "callBack",
  "auditRefusal",
  "forgetCall",
  "startAs",
  "startAllowed",
  "prepare",
  "allowedVariables",
  "inputWait",
  "ownOutput",
  "reading",
  "runOrJoin",
];

function methods(type: { prototype: object }): string[] {
  return Object.getOwnPropertyNames(type.prototype).filter((name) => !INTERNAL.includes(name));
}

function section(heading: string): string {
  return reference.split(/^### /m).find((text) => text.startsWith(`${heading}\n`)) ?? "";
}

test("docs/library-api.md lists every field of a request", () => {
  const missing = Object.keys(RunRequest.shape).filter((name) => !section("RunRequest").includes(`  ${name}`));
  assert.deepEqual(missing, []);
});

test("docs/library-api.md lists every method of a gateway and a session", () => {
  for (const [heading, type] of [["Gateway", Gateway] as const, ["SessionHandle", Session] as const]) {
    const missing = methods(type).filter((name) => !new RegExp(`\\b${name}\\b`).test(section(heading)));
    assert.deepEqual(missing, [], heading);
  }
});
