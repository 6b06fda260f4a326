import { bindingOf } from "../approval/binding.ts";
import type { Operation } from "../config/settings.ts";
import { SallyportError } from "../contract/error.ts";
import { approvalDenied, approvalPending } from "../present/refusal.ts";
import { lookupFor } from "./judge.ts";
import { answerTo } from "./permit.ts";
import type { Rooms } from "./rooms.ts";
import { inForce } from "./settings.ts";

/** What is done to a session besides starting it. */
export type SessionOperation = Exclude<Operation, "run">;

/** Those that only look: whatever is configured, nobody is asked about them. */
const READ_ONLY: ReadonlySet<Operation> = new Set(["list", "read"]);

export function isReadOnly(operation: Operation): boolean {
  return READ_ONLY.has(operation);
}

/** Refuses what is switched off here. */
export function insistOnTier(rooms: Rooms, operation: SessionOperation): "autonomous" | "notify" | "ask" {
  const tier = inForce(rooms).settings.permissions[operation] ?? "autonomous";
  if (tier !== "deny") return isReadOnly(operation) && tier === "ask" ? "autonomous" : tier;
  throw new SallyportError("CommandDenied", `\`${operation}\` is switched off here.`, [
    { action: "ask_operator", hint: `The operator can allow it: \`permissions.${operation}\` in sallyport.json.` },
  ]);
}

/** Lets one operation on one session through, tells of it, or asks a person first. */
export async function permitOperation(
  rooms: Rooms,
  operation: SessionOperation,
  session: { id: string; name: string },
): Promise<void> {
  const tier = insistOnTier(rooms, operation);
  if (tier === "notify") rooms.notify({ type: "operation", operation, session: session.id });
  if (tier !== "ask") return;
  const command = `sallyport ${operation} ${session.name}`;
  const confinement = `an operation on the session ${session.id}`;
  const bound = { command, argv: ["sallyport", operation, session.id], file: "", cwd: rooms.workspace };
  const binding = bindingOf({ ...bound, env: {}, facts: [], lookup: lookupFor(""), confinement });
  const message = "This operation needs a person's yes here.";
  const asked = rooms.approvals.request({
    agent: rooms.agent,
    binding,
    verdict: {
      command,
      verdict: "ask",
      analyzable: true,
      reasons: [{ rule: "permission-ask", message, span: null, suggestion: null }],
      commands: [],
    },
    cwd: rooms.workspace,
    workspace: rooms.workspace,
    confinement,
  });
  const { id } = await answerTo(rooms, asked, { patienceMs: undefined, signal: undefined });
  const used = rooms.approvals.consume(id, binding, { agent: rooms.agent, session: session.id });
  if (used.ok) return;
  const decided = rooms.approvals.get(id);
  const { error } = decided.status === "pending" ? approvalPending(decided) : approvalDenied(decided);
  throw new SallyportError(error.type, error.message, error.recovery);
}
