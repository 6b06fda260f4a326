import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { Ask, Security, Verdict } from "../../../src/core/policy.ts";
import { check } from "../../../src/gateway/check.ts";
import { type Row, rows } from "./corpus/rows.ts";

interface Mode {
  security: Security;
  ask: Ask;
  confined: boolean;
}

const modes: Mode[] = (["deny", "allowlist", "full"] as const).flatMap((security) =>
  (["off", "on-miss", "always"] as const).flatMap((ask) =>
    [true, false].map((confined) => ({ security, ask, confined })),
  ),
);

/** Modes in which a harmless command must not be denied. The other modes may deny harmless commands. */
const askable = modes.filter(({ security, ask }) => security !== "deny" && ask !== "off");
const listed = modes.filter(({ security }) => security === "allowlist");

const workspace = mkdtempSync(join(tmpdir(), "corpus-"));
const home = process.env.HOME;
process.env.HOME = "/home/someone";
after(() => {
  process.env.HOME = home;
  rmSync(workspace, { recursive: true });
});

/** Returns the first wrong verdict for a row, or null. */
function fault(row: Row): string | null {
  const wrong = (where: Mode[], bad: (verdict: Verdict) => boolean): string | null => {
    for (const mode of where) {
      const verdict = check(row.command, { cwd: workspace, workspace, ...mode });
      if (bad(verdict)) return describe(verdict, mode);
    }
    return null;
  };
  const stopped = ({ verdict }: Verdict): boolean => verdict === "blocked" || verdict === "deny";
  switch (row.expected) {
    case "deny":
      return wrong(modes, (verdict) => !stopped(verdict));
    case "ask":
      return wrong(listed, ({ verdict }) => verdict === "allow");
    case "unanalyzable":
      return (
        wrong(listed, ({ verdict }) => verdict === "allow") ??
        wrong(askable, (verdict) => verdict.analyzable && !stopped(verdict))
      );
    case "allow":
      return wrong(askable, stopped);
  }
}

function describe({ verdict, analyzable, reasons }: Verdict, { security, ask, confined }: Mode): string {
  const rules = reasons.map(({ rule }) => rule).join(",");
  return `${verdict}${analyzable ? "" : ", unanalyzable"} [${rules}] (${security}, ${ask}${confined ? ", confined" : ""})`;
}

for (const [kind, members] of Map.groupBy(rows(), (row) => row.class)) {
  test(`every row of class ${kind} gets the expected verdict in every mode`, () => {
    const faults = members.flatMap((row) => {
      const found = fault(row);
      return found === null
        ? []
        : [`${row.at}: expected ${row.expected}, got ${found}: ${JSON.stringify(row.command)}`];
    });
    assert.ok(
      faults.length === 0,
      `${faults.length} of ${members.length} rows have another verdict\n${faults.join("\n")}`,
    );
  });
}
