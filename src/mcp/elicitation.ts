/** Approvals through the client: the host shows its user a form, and what they say counts as theirs. */
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

/** A dialogue that is longer is not read, and to show only a part of it is to ask about something else (promise 2). */
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

/** Null: it is too long to be shown whole; a person decides where it can be. */
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
          description: `once: exactly this may run, this time${always ? "; always: whenever it is asked again" : ""}; deny: it may not`,
          enum: always ? ["once", "always", "deny"] : ["once", "deny"],
        },
        reason: {
          type: "string",
          title: "Reason",
          description: "With a denial: what the agent is told",
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

/** A 2025-era form waits as long as the gateway waits for an answer, and not for the SDK's one minute. */
const MAX_FORM_MS = 24 * 3600 * 1000;

/** How one call's questions reach a person. */
interface HostApproval extends Pick<Call, "ask"> {
  /** What the client is to ask before it calls again; null: nothing. */
  question(): ReturnType<typeof inputRequired> | null;
}

export const NO_HOST: HostApproval = { ask: async () => null, question: () => null };

/** `stop` ends the call: its answer is the question then. */
export function hostApproval(server: Server, ctx: ServerContext, who: string, stop: () => void): HostApproval {
  const { envelope } = ctx.mcpReq;
  const offered = envelope
    ? (envelope as Record<string, ClientCapabilities | undefined>)[CLIENT_CAPABILITIES_META_KEY]
    : server.getClientCapabilities();
  const elicitation = offered?.elicitation;
  // Without a mode it is a form, as it was before there were modes.
  const forms = elicitation && ("form" in elicitation || !("url" in elicitation));
  if (!forms) return NO_HOST;
  return envelope ? elicitBetweenCalls(ctx, who, stop) : elicitDuringCall(ctx, who);
}

/** Up to 2025-11-25: the client is asked while it waits for the call. */
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
 * From 2026-07-28 on a server cannot ask while it serves: the call is answered with the question, and comes again with
 * what was said. The same command is the same approval then; if anything about it has changed it is another, and what
 * was said about the first is no answer to it (promise 2).
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

/** Turning the form down is a no; closing it leaves the decision to somebody else. */
function decisionOf(action: string, content: unknown, who: string): HostDecision | null {
  if (action === "decline") return { decision: "deny", who };
  if (action !== "accept") return null;
  const { decision, reason } = (content ?? {}) as Record<string, unknown>;
  if (!isDecision(decision)) return null;
  const words = typeof reason === "string" ? reason.trim().slice(0, MAX_REASON) : "";
  return { decision, who, ...(words ? { reason: words } : {}) };
}
