/** Approvals through the client: the host shows a form to its user, who decides. */
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ClientCapabilities,
  type Implementation,
  inputRequired,
  inputResponse,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { Approval } from "../core/approval.ts";
import { shownLine } from "../text/visible.ts";
import type { Call, HostAnswer, SentForms } from "./agent-context.ts";
import { type ApprovalForm, approvalForm } from "./approval-form.ts";

/** Replaces the SDK's default timeout of 1 minute for forms, so that the gateway's approval timeout applies. */
const MAX_FORM_MS = 24 * 3600 * 1000;
/** No person reads a form in less time. Hosts without a person decline or cancel forms within a few milliseconds. */
const PERSON_MS = 300;
const MAX_CLIENT_LENGTH = 100;

/** How a call asks the host's user. */
interface HostApproval extends Pick<Call, "ask"> {
  /** Returns the form that the client must show before it repeats the call, or null if there is none. */
  question(): ReturnType<typeof inputRequired> | null;
}

const later = (why: string | null): HostAnswer => ({ kind: "later", why, answered: null });

/** For clients whose user may not decide or cannot be asked. */
export const NO_HOST: HostApproval = { ask: async () => later(null), question: () => null };

const TOO_LONG = later("The forms of this client cannot show the whole command, so it can only be approved elsewhere.");
const CLOSED = later("The form was closed without a decision.");

interface Asking {
  /** The name of the host's user. */
  who: string;
  /** When forms of earlier calls were sent. */
  sent: SentForms;
  /** Ends the call, so that it can return a form. */
  stop: () => void;
}

/** Selects how to ask the host's user. */
export function hostApproval(server: Server, ctx: ServerContext, asking: Asking): HostApproval {
  const { envelope } = ctx.mcpReq;
  const offered = envelope
    ? (envelope as Record<string, ClientCapabilities | undefined>)[CLIENT_CAPABILITIES_META_KEY]
    : server.getClientCapabilities();
  const elicitation = offered?.elicitation;
  // A client without modes supports forms, as before modes were introduced.
  const forms = elicitation && ("form" in elicitation || !("url" in elicitation));
  if (!forms) return NO_HOST;
  const info = envelope
    ? (envelope as Record<string, Implementation | undefined>)[CLIENT_INFO_META_KEY]
    : server.getClientVersion();
  const client = shownLine(`${info?.name ?? "unknown"} ${info?.version ?? ""}`.trim().slice(0, MAX_CLIENT_LENGTH));
  return envelope ? elicitBetweenCalls(ctx, client, asking) : elicitDuringCall(ctx, client, asking);
}

/** Asks the client during the call, which is possible up to protocol version 2025-11-25. */
function elicitDuringCall(ctx: ServerContext, client: string, { who }: Asking): HostApproval {
  return {
    async ask(approval, signal) {
      const form = approvalForm(approval);
      if (!form) return TOO_LONG;
      const until = AbortSignal.any([signal, ctx.mcpReq.signal]);
      const from = performance.now();
      try {
        const { action, content } = await ctx.mcpReq.elicitInput(form, { signal: until, timeout: MAX_FORM_MS });
        return answerOf({ action, content, afterMs: performance.now() - from, client, who }, approval);
      } catch (error) {
        if (until.aborted) return null;
        const why = `The client did not show the form: ${shownLine(error instanceof Error ? error.message : String(error))}`;
        return later(why.slice(0, 300));
      }
    },
    question: () => null,
  };
}

/**
 * Asks the client between two calls, because since protocol version 2026-07-28 a server cannot ask during a call: the
 * call returns the form, and the client repeats the call with the decision. The decision applies to the same approval
 * only: if anything about the command has changed, it is another approval with another ID (invariant 2).
 */
function elicitBetweenCalls(ctx: ServerContext, client: string, { who, sent, stop }: Asking): HostApproval {
  let open: { approval: Approval; form: ApprovalForm } | null = null;
  const receivedMs = performance.now();
  return {
    async ask(approval) {
      const answer = inputResponse(ctx.mcpReq.inputResponses, approval.id);
      if (answer.kind === "elicit") {
        const { action, content } = answer;
        return answerOf({ action, content, afterMs: sent.untilMs(approval, receivedMs), client, who }, approval);
      }
      const form = approvalForm(approval);
      if (!form) return TOO_LONG;
      open = { approval, form };
      stop();
      return null;
    },
    question() {
      if (open === null) return null;
      sent.add(open.approval.id);
      return inputRequired({ inputRequests: { [open.approval.id]: inputRequired.elicit(open.form) } });
    },
  };
}

interface Answered {
  action: string;
  content: unknown;
  /** The time since the form was sent. */
  afterMs: number;
  client: string;
  who: string;
}

/**
 * Converts the response to a form: accepting it approves once, declining it denies, and closing it leaves the request
 * pending. A response that no person can have given decides nothing.
 */
function answerOf({ action, content, afterMs, client, who }: Answered, { request }: Approval): HostAnswer {
  if (afterMs < PERSON_MS) {
    const why =
      "The client answered the form itself, before a person could read it, so this answer does not count. The request is open for others.";
    return { kind: "later", why, answered: { action, client, afterMs: Math.round(afterMs) } };
  }
  if (action === "decline") return { kind: "decision", decision: { decision: "deny", who } };
  if (action !== "accept") return CLOSED;
  const always = request.always.ok && (content as { always?: unknown } | undefined)?.always === true;
  return { kind: "decision", decision: { decision: always ? "always" : "once", who } };
}
