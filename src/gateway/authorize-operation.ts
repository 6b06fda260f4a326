import { bindingOf } from "../approval/binding.ts";
import { SallyportError } from "../core/error.ts";
import type { Operation } from "../core/settings.ts";
import { approvalDenied, approvalPending } from "../session/refusal.ts";
import { isDiskFull } from "../storage/database.ts";
import { approvalTerms, waitForDecision } from "./authorize.ts";
import type { GatewayContext } from "./context.ts";
import { lookupFor } from "./decide.ts";
import { currentSettings } from "./settings.ts";

/** An operation on an existing session. */
export type SessionOperation = Exclude<Operation, "run">;

/** Operations for which a configured `ask` has no effect. A toolset's contract can still require approval for them. */
const READ_ONLY: ReadonlySet<Operation> = new Set(["list", "read"]);

function isReadOnly(operation: Operation): boolean {
  return READ_ONLY.has(operation);
}

/** Returns the permission of an operation. Throws CommandDenied when it is `deny`. */
export function assertPermitted(context: GatewayContext, operation: SessionOperation): "autonomous" | "notify" | "ask" {
  const configured = currentSettings(context).settings.permissions[operation];
  // Without effect means as if it were not configured: the toolset's own permission applies, which may be stricter.
  const effective = isReadOnly(operation) && configured === "ask" ? null : configured;
  const tier = effective ?? context.defaultPermissions[operation] ?? "autonomous";
  if (tier !== "deny") return tier;
  throw new SallyportError("CommandDenied", `The operation \`${operation}\` is disabled.`, [
    {
      action: "ask_operator",
      hint: `Ask the operator to enable it with \`permissions.${operation}\` in sallyport.json.`,
    },
  ]);
}

/** The details of an operation. They are shown to the approver, and the approval is bound to them (invariant 2). */
interface OperationDetail {
  /** Arguments after the session's name, as on a command line. */
  words?: readonly string[];
  /** Input for the command. */
  input?: Uint8Array;
}

/** The maximum size of the input of an operation that requires approval, the same as for `stdin` in a request. */
export const MAX_INPUT_BYTES = 8 << 20;

/**
 * Authorizes an operation on a session, or on all sessions of the agent when `session` is null: allows it, notifies
 * listeners, or waits for approval. Returns a promise only when it waits, since every key press is authorized here.
 */
export function authorizeOperation(
  context: GatewayContext,
  operation: SessionOperation,
  session: { id: string; name: string } | null,
  detail: OperationDetail = {},
): Promise<void> | undefined {
  const tier = permittedOrAudited(context, operation, session);
  if (tier === "notify" && session) context.notify({ type: "operation", operation, session: session.id });
  return tier === "ask" ? askAbout(context, operation, session, detail) : undefined;
}

/** Like `assertPermitted`, but records the refusal of an operation that would change a session. */
function permittedOrAudited(
  context: GatewayContext,
  operation: SessionOperation,
  session: { id: string; name: string } | null,
): ReturnType<typeof assertPermitted> {
  try {
    return assertPermitted(context, operation);
  } catch (error) {
    const refused = { operation, session: session?.id ?? null, target: session?.name ?? "all sessions" };
    if (!isReadOnly(operation)) auditRefusal(context, { ...refused, why: (error as Error).message });
    throw error;
  }
}

/** The kind of the audit entries for each operation. */
const AUDIT_KINDS: Record<SessionOperation, string> = {
  write: "stdin",
  kill: "signal",
  extend: "deadline",
  remove: "remove",
  list: "list",
  read: "read",
};

export interface RefusedOperation {
  operation: SessionOperation;
  session: string | null;
  /** The session or process, as the summary names it. */
  target: string;
  why: string;
  detail?: Record<string, unknown>;
}

/** Records a refused operation in the audit log. */
export function auditRefusal(context: GatewayContext, refused: RefusedOperation): void {
  const { operation, session, target, why, detail } = refused;
  const { agent, actor, channel, audit } = context;
  const entry = { kind: AUDIT_KINDS[operation], agent, session, actor, channel, outcome: "refused" };
  try {
    audit.append({ ...entry, summary: `${operation} ${target}`, detail: { ...detail, why } });
  } catch (error) {
    if (!isDiskFull(error)) throw error; // The operation is refused in any case.
  }
}

async function askAbout(
  context: GatewayContext,
  operation: SessionOperation,
  session: { id: string; name: string } | null,
  detail: OperationDetail,
): Promise<void> {
  if ((detail.input?.length ?? 0) > MAX_INPUT_BYTES) throw inputTooLong();
  // When two callers request the same operation at once, one uses the approval and the other requests a new one.
  for (;;) {
    const { binding, asked } = ask(context, operation, session, detail);
    const { approval: decided, why } = await waitForDecision(context, asked, context.waitOptions);
    if (decided.status !== "approved") {
      const { error } = decided.status === "pending" ? approvalPending(decided, why) : approvalDenied(decided);
      throw new SallyportError(error.type, error.message, error.recovery);
    }
    if (context.approvals.consume(decided.id, binding, { agent: context.agent, session: session?.id ?? "" }).ok) return;
  }
}

function ask(
  context: GatewayContext,
  operation: SessionOperation,
  session: { id: string; name: string } | null,
  { words = [], input }: OperationDetail,
) {
  const command = ["sallyport", operation, ...(session ? [session.name] : []), ...words].join(" ");
  const confinement = session ? `none: operation on session ${session.id}` : "none: operation on the agent's sessions";
  const bytes = input ? Buffer.from(input) : null;
  // The binding includes the raw bytes: different inputs with invalid UTF-8 can be equal as text.
  const argv = ["sallyport", operation, session?.id ?? "", ...words, bytes?.toString("latin1") ?? ""];
  const stdin = bytes?.toString() ?? null;
  const place = { cwd: context.workspace, stdin, confinement };
  const binding = bindingOf({ command, argv, file: "", env: {}, facts: [], lookup: lookupFor(""), ...place });
  const message = "This operation requires approval.";
  const asked = context.approvals.request({
    agent: context.agent,
    binding,
    verdict: {
      command,
      verdict: "ask",
      analyzable: true,
      reasons: [{ rule: "permission-ask", message, span: null, suggestion: null }],
      commands: [],
    },
    workspace: context.workspace,
    ...place,
    ...approvalTerms(currentSettings(context).settings),
  });
  return { binding, asked };
}

export function inputTooLong(): SallyportError {
  return new SallyportError(
    "InvalidRequest",
    `Input that requires approval is limited to ${MAX_INPUT_BYTES >> 20} MiB.`,
    [{ action: "optimize", hint: "Write the input in smaller pieces." }],
  );
}
