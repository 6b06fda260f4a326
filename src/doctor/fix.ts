import { chmodSync } from "node:fs";
import { buildKeeper } from "../executor/native/zygote.ts";
import type { Finding, Machine } from "./finding.ts";

interface Fix {
  name: string;
  status: readonly Finding["status"][];
  apply(machine: Machine): void;
}

/** Fixes change only Sallyport's own files. Changes to the machine are left to its owner. */
const FIXES: readonly Fix[] = [
  { name: "keeper", status: ["warn", "fail"], apply: buildKeeper },
  { name: "state folder", status: ["warn"], apply: ({ state }) => chmodSync(state, 0o700) },
];

/** Applies the fixes for findings that have one. `failure` in the result is null if the fix was applied. */
export function applyFixes(findings: readonly Finding[], machine: Machine): { name: string; failure: string | null }[] {
  return findings.flatMap(({ name, status }) => {
    const fix = FIXES.find((each) => each.name === name && each.status.includes(status));
    return fix ? [{ name, failure: tryFix(fix, machine) }] : [];
  });
}

function tryFix(fix: Fix, machine: Machine): string | null {
  try {
    fix.apply(machine);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message.trim() : String(error);
  }
}
