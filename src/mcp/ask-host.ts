/** Approvals through the client: the host shows its user a form, and what they say counts as theirs. */
import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  inputRequired,
  inputResponse,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { Approval } from "../core/approval.ts";
import { approvalForm, isAnswer, LONGEST_REASON } from "./approval-form.ts";
import type { Call, HostDecision } from "./call.ts";

/** A 2025-era form waits as long as the gateway waits for an answer, and not for the SDK's one minute. */
const LONGEST_FORM_MS = 24 * 3600 * 1000;

/** How one call's questions reach a person. */
export interface HostDesk extends Pick<Call, "ask"> {
  /** What the client is to ask before it calls again; null: nothing. */
  question(): ReturnType<typeof inputRequired> | null;
}

export const NOBODY: HostDesk = { ask: async () => null, question: () => null };

/** `stop` ends the call: its answer is the question then. */
export function hostDesk(server: Server, ctx: ServerContext, who: string, stop: () => void): HostDesk {
  const { envelope } = ctx.mcpReq;
  const offered = envelope
    ? (envelope as Record<string, ClientCapabilities | undefined>)[CLIENT_CAPABILITIES_META_KEY]
    : server.getClientCapabilities();
  const elicitation = offered?.elicitation;
  // Without a mode it is a form, as it was before there were modes.
  const forms = elicitation && ("form" in elicitation || !("url" in elicitation));
  if (!forms) return NOBODY;
  return envelope ? askedAgain(ctx, who, stop) : askedMeanwhile(ctx, who);
}

/** Up to 2025-11-25: the client is asked while it waits for the call. */
function askedMeanwhile(ctx: ServerContext, who: string): HostDesk {
  return {
    async ask(approval, signal) {
      const form = approvalForm(approval, Date.now());
      if (!form) return null;
      const until = AbortSignal.any([signal, ctx.mcpReq.signal]);
      try {
        const answer = await ctx.mcpReq.elicitInput(form, { signal: until, timeout: LONGEST_FORM_MS });
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
 * From 2026-07-28 on a server cannot ask while it serves: the call is answered with the question, and comes again with
 * what was said. The same command is the same approval then; if anything about it has changed it is another, and what
 * was said about the first is no answer to it (promise 2).
 */
function askedAgain(ctx: ServerContext, who: string, stop: () => void): HostDesk {
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

/** Turning the form down is a no; closing it leaves the decision to somebody else. */
function decisionOf(action: string, content: unknown, who: string): HostDecision | null {
  if (action === "decline") return { decision: "deny", who };
  if (action !== "accept") return null;
  const { decision, reason } = (content ?? {}) as Record<string, unknown>;
  if (!isAnswer(decision)) return null;
  const words = typeof reason === "string" ? reason.trim().slice(0, LONGEST_REASON) : "";
  return { decision, who, ...(words ? { reason: words } : {}) };
}
