import assert from "node:assert/strict";
import { test } from "node:test";
import { RunRequest } from "../../../src/core/request.ts";
import { Gateway } from "../../../src/gateway/gateway.ts";
import { Session } from "../../../src/session/session.ts";
import { pages } from "./pages.ts";

const library = pages().find(({ path }) => path === "docs/library.md")?.text ?? "";
/** Called by the one that opens a gateway, not by its users. */
const INTERNAL = ["constructor", "callBack"];

function methods(type: { prototype: object }): string[] {
  return Object.getOwnPropertyNames(type.prototype).filter((name) => !INTERNAL.includes(name));
}

test("docs/library.md tells of every field of a request", () => {
  const untold = Object.keys(RunRequest.shape).filter(
    (name) => !new RegExp(`^\\|.*\`${name}\`.*\\|`, "m").test(library),
  );
  assert.deepEqual(untold, []);
});

test("docs/library.md tells of everything a gateway and a session can do", () => {
  assert.deepEqual(
    methods(Gateway).filter((name) => !library.includes(`gateway.${name}`)),
    [],
  );
  assert.deepEqual(
    methods(Session).filter((name) => !library.includes(`\`${name}(`)),
    [],
  );
});
