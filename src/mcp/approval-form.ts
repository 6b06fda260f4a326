/** How a host's user is asked about a command in a form of the MCP client. */

import { approvalText } from "../approval/details.ts";
import type { Approval, ApprovalDecision } from "../core/approval.ts";

/** A dialogue that is longer is not read, and to show only a part of it is to ask about something else (promise 2). */
const MOST_SHOWN = 32 << 10;
const COLUMNS = 100;
export const LONGEST_REASON = 1000;

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
export function approvalForm(approval: Approval, nowMs: number): ApprovalForm | null {
  const message = approvalText(approval, { color: false, columns: COLUMNS, nowMs });
  if (Buffer.byteLength(message) > MOST_SHOWN) return null;
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
          maxLength: LONGEST_REASON,
        },
      },
      required: ["decision"],
    },
  };
}

export function isAnswer(value: unknown): value is Answer {
  return value === "once" || value === "always" || value === "deny";
}
