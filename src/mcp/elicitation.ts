/** Approvals through the client: the host shows a form to its user, who decides. */
import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  inputRequired,
  inputResponse,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { approvalText } from "../approval/render.ts";
import type { Approval, ApprovalDecision } from "../core/approval.ts";
import type { Call, HostDecision } from "./agent-context.ts";

/** Longer requests are not shown in a form. They are never shortened, because a part could mislead (invariant 2). */
const MAX_FORM_BYTES = 32 << 10;
const COLUMNS = 100;
const MAX_REASON = 1000;

type Answer = ApprovalDecision["decision"];

interface ApprovalForm {
  message: string;
  requestedSchema: {
    type: "object";
    properties: {
      decision: { type: "string"; title: string; description: string; enum: Answer[] };
      reason: { type: "string"; title: string; description: string; maxLength: number };
    };
    required: string[];
  };
}

/** Returns the form for an approval; null when it is too long, so that a person decides elsewhere. */
function approvalForm(approval: Approval, nowMs: number): ApprovalForm | null {
  const message = approvalText(approval, { color: false, columns: COLUMNS, nowMs });
  if (Buffer.byteLength(message) > MAX_FORM_BYTES) return null;
  const always = approval.request.always.ok;
  return {
    message,
    requestedSchema: {
      type: "object",
      properties: {
        decision: {
          type: "string",
          title: "Decision",
          description: `once: allow this command one time${always ? "; always: allow it from now on" : ""}; deny: do not allow it`,
          enum: always ? ["once", "always", "deny"] : ["once", "deny"],
        },
        reason: {
          type: "string",
          title: "Reason",
          description: "Reason for a denial, shown to the agent",
          maxLength: MAX_REASON,
        },
      },
      required: ["decision"],
    },
  };
}

function isDecision(value: unknown): value is Answer {
  return value === "once" || value === "always" || value === "deny";
}

/** Replaces the SDK's default timeout of 1 minute for forms, so that the gateway's approval timeout applies. */
const MAX_FORM_MS = 24 * 3600 * 1000;

/** How a call asks the host's user. */
interface HostApproval extends Pick<Call, "ask"> {
  /** Returns the form that the client must show before it repeats the call, or null if there is none. */
  question(): ReturnType<typeof inputRequired> | null;
}

export const NO_HOST: HostApproval = { ask: async () => null, question: () => null };

/** Selects how to ask the host's user. `stop` ends the call, so that it can return a form. */
export function hostApproval(server: Server, ctx: ServerContext, who: string, stop: () => void): HostApproval {
  const { envelope } = ctx.mcpReq;
  const offered = envelope
    ? (envelope as Record<string, ClientCapabilities | undefined>)[CLIENT_CAPABILITIES_META_KEY]
    : server.getClientCapabilities();
  const elicitation = offered?.elicitation;
  // A client without modes supports forms, as before modes were introduced.
  const forms = elicitation && ("form" in elicitation || !("url" in elicitation));
  if (!forms) return NO_HOST;
  return envelope ? elicitBetweenCalls(ctx, who, stop) : elicitDuringCall(ctx, who);
}

/** Asks the client during the call, which is possible up to protocol version 2025-11-25. */
function elicitDuringCall(ctx: ServerContext, who: string): HostApproval {
  return {
    async ask(approval, signal) {
      const form = approvalForm(approval, Date.now());
      if (!form) return null;
      const until = AbortSignal.any([signal, ctx.mcpReq.signal]);
      try {
        const answer = await ctx.mcpReq.elicitInput(form, { signal: until, timeout: MAX_FORM_MS });
        return decisionOf(answer.action, answer.content, who);
      } catch (error) {
        if (until.aborted) return null;
        throw error;
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
function elicitBetweenCalls(ctx: ServerContext, who: string, stop: () => void): HostApproval {
  let open: { approval: Approval; form: NonNullable<ReturnType<typeof approvalForm>> } | null = null;
  return {
    async ask(approval) {
      const answer = inputResponse(ctx.mcpReq.inputResponses, approval.id);
      if (answer.kind === "elicit") return decisionOf(answer.action, answer.content, who);
      const form = approvalForm(approval, Date.now());
      if (!form) return null;
      open = { approval, form };
      stop();
      return null;
    },
    question: () => open && inputRequired({ inputRequests: { [open.approval.id]: inputRequired.elicit(open.form) } }),
  };
}

/** Converts the response to a form. Declining it denies; cancelling it leaves the request pending. */
function decisionOf(action: string, content: unknown, who: string): HostDecision | null {
  if (action === "decline") return { decision: "deny", who };
  if (action !== "accept") return null;
  const { decision, reason } = (content ?? {}) as Record<string, unknown>;
  if (!isDecision(decision)) return null;
  const text = typeof reason === "string" ? reason.trim().slice(0, MAX_REASON) : "";
  return { decision, who, ...(text ? { reason: text } : {}) };
}
