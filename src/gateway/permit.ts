import { type Binding, bindingOf } from "../approval/binding.ts";
import type { NewApproval } from "../approval/describe.ts";
import type { Approval } from "../core/approval.ts";
import type { RunRequest } from "../core/request.ts";
import type { Settings } from "../core/settings.ts";
import type { Verdict } from "../core/verdict.ts";
import { confinementText } from "../sandbox/describe.ts";
import { approvalDenied, approvalPending, commandRefused, type Refusal } from "../session/refusal.ts";
import { isForbidden, lookupFor } from "./judge.ts";
import type { Case } from "./record.ts";
import type { Rooms } from "./rooms.ts";
import { inForce } from "./settings.ts";

/** How a command is kept in bounds, and where its output goes besides, as a person is told. */
function confinementIn({ plan: { logFile, id }, sandbox }: Case): string {
  const bounds = confinementText(sandbox);
  // A log that is named after the session is another with each attempt: the same approval is good for all of them.
  return logFile === null ? bounds : `${bounds}; its output overwrites ${logFile.replaceAll(id, "<session id>")}`;
}

/** How a person is asked, by the settings of this moment. */
export function askingTerms(settings: Settings): Pick<NewApproval, "expiresMs" | "quorum"> {
  const { expiresMinutes, quorum } = settings.approvals;
  return { expiresMs: expiresMinutes * 60_000, quorum };
}

/** Why a command may run, or why not. */
export type Permit =
  | {
      go: true;
      approval: { id: string; binding: () => Binding } | null;
      grants: string[];
      /** Somebody was asked elsewhere, and this is who says so. */
      vouched?: { gateway: string; approval: string | null; approvers: readonly string[] };
    }
  | { go: false; refusal: Refusal; approvalId: string | null };

export interface Patience {
  /** How long to wait for a person; then the answer is `pending`. */
  patienceMs: number | undefined;
  signal: AbortSignal | undefined;
}

/** From a verdict to a yes or a no; asks a person where it must. */
export async function permit(rooms: Rooms, request: RunRequest, that: Case, patience: Patience): Promise<Permit> {
  const { plan, verdict } = that;
  // Blocked means blocked: nothing below is even looked at (promise 3).
  if (isForbidden(verdict)) return { go: false, refusal: commandRefused(verdict), approvalId: null };
  if (verdict.verdict === "allow") return { go: true, approval: null, grants: [] };

  const stdin = typeof request.stdin === "object" ? request.stdin.text : null;
  const { settings, confinement: bounds } = inForce(rooms);
  const workspace = bounds.scope.root;
  const scene = { agent: rooms.agent, workspace, addedEnv: Object.keys(request.env ?? {}) };
  const granted = isMissOnly(verdict) && rooms.approvals.grants.match(verdict, { ...scene, stdin: stdin !== null });
  if (granted) return { go: true, approval: null, grants: granted.map(({ id }) => id) };

  const confinement = confinementIn(that);
  const binding = () =>
    bindingOf({
      command: request.command,
      argv: plan.argv,
      file: plan.file,
      cwd: plan.cwd,
      env: plan.env,
      facts: verdict.commands,
      lookup: lookupFor(plan.path),
      stdin,
      confinement,
    });
  const asked = rooms.approvals.request({
    agent: rooms.agent,
    binding: binding(),
    verdict,
    cwd: plan.cwd,
    workspace,
    ...(request.env ? { env: request.env } : {}),
    stdin,
    confinement,
    ...askingTerms(settings),
    intent: request.intent ?? null,
  });
  rooms.checkpoint("asked");
  const decided = await answerTo(rooms, asked, patience);
  if (decided.status === "approved") return { go: true, approval: { id: decided.id, binding }, grants: [] };
  const refusal = decided.status === "pending" ? approvalPending(decided) : approvalDenied(decided);
  return { go: false, refusal, approvalId: decided.id };
}

/** A grant fills a gap in the allowlist. What is to be asked every time, by mode or by rule, it does not answer. */
function isMissOnly({ reasons }: Verdict): boolean {
  return reasons.every(({ rule }) => rule === "not-allowed" || rule.startsWith("allowlist:"));
}

/** Waits for a person's word, as long as the caller's patience lasts. */
export async function answerTo(rooms: Rooms, asked: Approval, { patienceMs, signal }: Patience): Promise<Approval> {
  if (asked.status !== "pending") return asked;
  rooms.notify({ type: "approval-requested", approval: asked });
  const over = new AbortController();
  if (rooms.approve) void letHostDecide(rooms, asked, over.signal);
  const options = { ...(patienceMs === undefined ? {} : { timeoutMs: patienceMs }), ...(signal ? { signal } : {}) };
  try {
    return await rooms.approvals.wait(asked.id, options);
  } finally {
    over.abort();
  }
}

/** The host asks its user. Somebody else may be quicker, and then the host's answer is one too many. */
async function letHostDecide(rooms: Rooms, asked: Approval, over: AbortSignal): Promise<void> {
  try {
    const decision = await rooms.approve?.(asked, over);
    if (decision && !over.aborted) rooms.approvals.decide(asked.id, { channel: "library", ...decision });
  } catch (error) {
    rooms.notify({ type: "approval-failed", approval: asked, error: error as Error });
  }
}
