import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { checkCommand, isStopped } from "./world.ts";

function cases(name: string): string[] {
  return readFileSync(new URL(`./cases/${name}.txt`, import.meta.url), "utf8")
    .split("\n")
    .filter(Boolean);
}

/** Checks all commands of a table and reports every wrong verdict at once. */
function all(name: string, isRight: (command: string) => boolean): void {
  test(`every command in ${name}.txt gets the expected verdict`, () => {
    assert.deepEqual(
      cases(name).filter((command) => !isRight(command)),
      [],
    );
  });
}

all("stopped", (command) =>
  (["full", "allowlist", "deny"] as const).every((security) => isStopped(checkCommand(command, { security }))),
);
all("unknowable", (command) => {
  const verdict = checkCommand(command);
  return !verdict.analyzable || isStopped(verdict);
});
all("unknowable", (command) => checkCommand(command, { security: "allowlist" }).verdict !== "allow");
all("unknowable", (command) => checkCommand(command, { confined: false }).verdict !== "allow");
all(
  "harmless",
  (command) => !isStopped(checkCommand(command)) && !isStopped(checkCommand(command, { security: "allowlist" })),
);
all("asked", (command) => checkCommand(command, { security: "allowlist" }).verdict !== "allow");
