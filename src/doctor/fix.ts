import { chmodSync } from "node:fs";
import { buildKeeper } from "../executor/native/zygote.ts";
import type { Finding, Machine } from "./finding.ts";

interface Fix {
  name: string;
  status: readonly Finding["status"][];
  apply(machine: Machine): void;
}

/** What is Sallyport's own to change. All else is the machine's, and its owner's to decide. */
const FIXES: readonly Fix[] = [
  { name: "keeper", status: ["warn", "fail"], apply: buildKeeper },
  { name: "state folder", status: ["warn"], apply: ({ state }) => chmodSync(state, 0o700) },
];

/** Does what the findings say where it can; what came of each, by name. */
export function applyFixes(findings: readonly Finding[], machine: Machine): { name: string; failure: string | null }[] {
  return findings.flatMap(({ name, status }) => {
    const remedy = FIXES.find((each) => each.name === name && each.status.includes(status));
    return remedy ? [{ name, failure: tryFix(remedy, machine) }] : [];
  });
}

function tryFix(remedy: Fix, machine: Machine): string | null {
  try {
    remedy.apply(machine);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message.trim() : String(error);
  }
}
