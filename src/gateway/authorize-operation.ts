import { bindingOf } from "../approval/binding.ts";
import { SallyportError } from "../core/error.ts";
import type { Operation } from "../core/settings.ts";
import { approvalDenied, approvalPending } from "../session/refusal.ts";
import { approvalTerms, waitForDecision } from "./authorize.ts";
import type { GatewayContext } from "./context.ts";
import { lookupFor } from "./decide.ts";
import { currentSettings } from "./settings.ts";

/** What is done to a session besides starting it. */
export type SessionOperation = Exclude<Operation, "run">;

/** Those that only look: whatever is configured, nobody is asked about them. A toolset's own contract may want it. */
const READ_ONLY: ReadonlySet<Operation> = new Set(["list", "read"]);

function isReadOnly(operation: Operation): boolean {
  return READ_ONLY.has(operation);
}

/** Refuses what is switched off here. */
export function assertPermitted(context: GatewayContext, operation: SessionOperation): "autonomous" | "notify" | "ask" {
  const configured = currentSettings(context).settings.permissions[operation];
  const tier = configured ?? context.defaultPermissions[operation] ?? "autonomous";
  if (tier !== "deny") return isReadOnly(operation) && configured === "ask" ? "autonomous" : tier;
  throw new SallyportError("CommandDenied", `\`${operation}\` is switched off here.`, [
    { action: "ask_operator", hint: `The operator can allow it: \`permissions.${operation}\` in sallyport.json.` },
  ]);
}

/** What exactly is to be done. A person is shown it, and their yes is good for nothing else (promise 2). */
interface OperationDetail {
  /** Besides the session's name, as it would be typed. */
  words?: readonly string[];
  /** What the command is given to read. */
  input?: Uint8Array;
}

/** More than a person could look at; a request's own `stdin` may be as long. */
const MOST_INPUT = 8 << 20;

/**
 * Lets one operation on one session (null: on all of an agent's) through, tells of it, or asks a person first. There is
 * something to wait for only where a person is asked: every key goes this way.
 */
export function authorizeOperation(
  context: GatewayContext,
  operation: SessionOperation,
  session: { id: string; name: string } | null,
  detail: OperationDetail = {},
): Promise<void> | undefined {
  const tier = assertPermitted(context, operation);
  if (tier === "notify" && session) context.notify({ type: "operation", operation, session: session.id });
  return tier === "ask" ? askAbout(context, operation, session, detail) : undefined;
}

async function askAbout(
  context: GatewayContext,
  operation: SessionOperation,
  session: { id: string; name: string } | null,
  detail: OperationDetail,
): Promise<void> {
  if ((detail.input?.length ?? 0) > MOST_INPUT) throw tooLong();
  // Of two that ask for the same at once one gets the yes; the other asks again.
  for (;;) {
    const { binding, asked } = ask(context, operation, session, detail);
    const decided = await waitForDecision(context, asked, context.waitOptions);
    if (decided.status !== "approved") {
      const { error } = decided.status === "pending" ? approvalPending(decided) : approvalDenied(decided);
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
  const confinement = session ? `an operation on the session ${session.id}` : "an operation on the agent's sessions";
  const bytes = input ? Buffer.from(input) : null;
  // As bytes, too: two inputs that are no UTF-8 may look the same as text.
  const argv = ["sallyport", operation, session?.id ?? "", ...words, bytes?.toString("latin1") ?? ""];
  const stdin = bytes?.toString() ?? null;
  const place = { cwd: context.workspace, stdin, confinement };
  const binding = bindingOf({ command, argv, file: "", env: {}, facts: [], lookup: lookupFor(""), ...place });
  const message = "This operation needs a person's yes here.";
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

function tooLong(): SallyportError {
  return new SallyportError("InvalidRequest", `At most ${MOST_INPUT} bytes can be asked about at a time.`, [
    { action: "optimize", hint: "Write it in smaller pieces." },
  ]);
}
