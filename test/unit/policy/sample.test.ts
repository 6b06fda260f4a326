import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import type { Ask, Security } from "../../../src/core/policy.ts";
import { checkCommand, isStopped } from "./world.ts";

interface Row {
  command: string;
  expected: string;
  note: string;
}

const rows: Row[] = readFileSync(new URL("./cases/sample.tsv", import.meta.url), "utf8")
  .split("\n")
  .slice(1)
  .filter(Boolean)
  .map((line) => {
    const [raw = "", , expected = "", note = ""] = line.split("\t");
    return { command: raw.startsWith("json:") ? JSON.parse(raw.slice(5)) : raw, expected, note };
  });

const MODES: { security: Security; ask: Ask; confined: boolean }[] = (["full", "allowlist", "deny"] as const).flatMap(
  (security) =>
    (["off", "on-miss", "always"] as const).flatMap((ask) =>
      [true, false].map((confined) => ({ security, ask, confined })),
    ),
);

test("sample.tsv has at least 169 rows", () => assert.ok(rows.length >= 169));

for (const { command, expected, note } of rows) {
  test(`expects ${expected} for ${JSON.stringify(command).slice(0, 90)}`, () => {
    for (const modes of MODES) {
      const verdict = checkCommand(command, modes);
      const about = JSON.stringify({ modes, verdict: verdict.verdict, reasons: verdict.reasons });
      if (expected === "block" && note.startsWith("[deny]")) assert.ok(isStopped(verdict), about);
      if (expected === "unanalyzable") assert.ok(!verdict.analyzable || isStopped(verdict), about);
      if (expected !== "allow" && modes.security === "allowlist") assert.notEqual(verdict.verdict, "allow", about);
      if (expected === "allow" && modes.security === "full" && modes.ask !== "off")
        assert.ok(!isStopped(verdict), about);
      if (expected === "allow" && modes.security === "allowlist" && modes.ask === "on-miss")
        assert.ok(!isStopped(verdict), about);
    }
  });
}
