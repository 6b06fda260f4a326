import { chmodSync } from "node:fs";
import { buildKeeper } from "../executor/native/zygote.ts";
import { installProfile, manualInstall } from "./apparmor.ts";
import type { Finding, Machine } from "./finding.ts";

/** A way to solve the problem of a finding. */
interface Fix {
  /** The name of the finding. */
  name: string;
  status: readonly Finding["status"][];
  /** Returns the command for a problem that this process lacks the privileges to solve, otherwise null. */
  manual?(machine: Machine): string | null;
  /** Solves the problem and returns what was done. Doing it again changes nothing. */
  apply(machine: Machine): string;
}

/** Apart from the AppArmor profile of the keeper, fixes change only Sallyport's own files. */
const FIXES: readonly Fix[] = [
  {
    name: "keeper",
    status: ["warn", "fail"],
    apply() {
      buildKeeper();
      return "built the keeper";
    },
  },
  {
    name: "state folder",
    status: ["warn"],
    apply({ state }) {
      chmodSync(state, 0o700);
      return `set the mode of ${state} to 700`;
    },
  },
  { name: "apparmor", status: ["warn"], manual: manualInstall, apply: installProfile },
];

/** The result of a fix. */
export interface FixResult {
  /** The name of the finding. */
  name: string;
  /** What was done. Null if nothing was. */
  done: string | null;
  /** Why the fix failed. Null if it did not. */
  failure: string | null;
  /** The command that solves the problem, if this process lacks the privileges. */
  manual: string | null;
}

/** Applies the fixes for findings that have one. */
export function applyFixes(findings: readonly Finding[], machine: Machine): FixResult[] {
  return findings.flatMap(({ name, status }) => {
    const fix = FIXES.find((each) => each.name === name && each.status.includes(status));
    return fix ? [tryFix(fix, machine)] : [];
  });
}

function tryFix(fix: Fix, machine: Machine): FixResult {
  const { name } = fix;
  try {
    const manual = fix.manual?.(machine) ?? null;
    return { name, done: manual === null ? fix.apply(machine) : null, failure: null, manual };
  } catch (error) {
    const failure = error instanceof Error ? error.message.trim() : String(error);
    return { name, done: null, failure, manual: null };
  }
}
