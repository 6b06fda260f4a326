import type { Permission } from "../core/settings.ts";
import type { Decision, Reason, Verdict } from "../core/verdict.ts";
import { looseningReason } from "../sandbox/describe.ts";
import type { Loosening } from "../sandbox/loosening.ts";

const SEVERITY: readonly Decision[] = ["allow", "ask", "deny", "blocked"];

function atLeast(verdict: Verdict, decision: "ask" | "deny", reasons: Reason[]): Verdict {
  const worse = SEVERITY.indexOf(verdict.verdict) >= SEVERITY.indexOf(decision);
  return worse
    ? { ...verdict, reasons: [...verdict.reasons, ...reasons] }
    : { ...verdict, verdict: decision, reasons: [...reasons, ...verdict.reasons] };
}

/** What asks for more than the configured sandbox is never allowed by itself; `miss` is what becomes of it instead. */
export function withLoosening(verdict: Verdict, loosened: readonly Loosening[], miss: "ask" | "deny"): Verdict {
  return loosened.length === 0 ? verdict : atLeast(verdict, miss, loosened.map(looseningReason));
}

/** The tier of the operation itself: it can only make the verdict stricter. */
export function withPermission(verdict: Verdict, permission: Permission | null): Verdict {
  if (permission !== "ask" && permission !== "deny") return verdict;
  if (SEVERITY.indexOf(verdict.verdict) >= SEVERITY.indexOf(permission)) return verdict;
  const message =
    permission === "ask" ? "Running a command needs a person's yes here." : "Running commands is switched off here.";
  const reason: Reason = { rule: `permission-${permission}`, message, span: null, suggestion: null };
  return atLeast(verdict, permission, [reason]);
}
