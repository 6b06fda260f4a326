import { realpathSync } from "node:fs";
import { notGrantable } from "../approval/errors.ts";
import { grantable } from "../approval/grantable.ts";
import type { GrantTarget } from "../core/approval.ts";
import { SallyportError } from "../core/error.ts";
import { commandRefused } from "../session/refusal.ts";
import { check } from "./check.ts";

/** What a grant for this command would cover. Throws for what is forbidden or cannot be allowed for good safely. */
export function grantTargets(argv: string[], cwd: string, agent: string): GrantTarget[] {
  const verdict = check(argv, { cwd, agent });
  if (verdict.verdict === "blocked" || verdict.verdict === "deny") {
    const { error } = commandRefused(verdict);
    throw new SallyportError(error.type, error.message, error.recovery);
  }
  const found = grantable(verdict, { workspace: cwd });
  if (!found.ok) throw notGrantable(found.why);
  return found.commands.map((target) => ({ ...target, cwd: realpathSync.native(target.cwd) }));
}
