import * as z from "zod";
import { approvalNotFound } from "../../approval/errors.ts";
import type { Approval } from "../../core/approval.ts";
import { SallyportError } from "../../core/error.ts";
import { agentFilter } from "../../core/names.ts";
import { DECIDERS, type Operation, type OperationCall, operation, READERS, READERS_AND_AGENT } from "../operation.ts";
import { ApprovalSchema, count, flag, GrantSchema, milliseconds, shortText } from "../schemas.ts";

const MAX_LISTED = 1000;
const STATUSES = ["pending", "approved", "denied", "expired", "used"] as const;

export const approvalOperations: readonly Operation[] = [
  operation({
    method: "GET",
    path: "/v1/approvals",
    id: "listApprovals",
    summary: "List approval requests, newest first",
    roles: READERS_AND_AGENT,
    query: z.strictObject({
      status: z
        .enum([...STATUSES, "all"])
        .optional()
        .describe("Only requests with this status (default: pending)"),
      agent: shortText(128).optional().describe("Only requests from this agent"),
      limit: count(MAX_LISTED).optional().describe("Maximum number of requests (default: 200)"),
    }),
    response: z.object({ approvals: z.array(ApprovalSchema).describe("Matching requests") }),
    handle: ({ gateway, caller, query: { status = "pending", agent = caller.agent ?? undefined, limit = 200 } }) => {
      if (caller.agent !== null && agentFilter(agent ?? "") !== caller.agent) return { approvals: [] };
      const wanted = status === "all" ? {} : { status };
      return { approvals: gateway.approvals.list({ ...wanted, limit, ...(agent === undefined ? {} : { agent }) }) };
    },
  }),
  operation({
    method: "GET",
    path: "/v1/approvals/:id",
    id: "getApproval",
    summary: "Get an approval request",
    roles: READERS_AND_AGENT,
    response: ApprovalSchema,
    handle: (call) => find(call),
  }),
  operation({
    method: "POST",
    path: "/v1/approvals/:id/decision",
    id: "decide",
    summary: "Decide an approval request",
    roles: DECIDERS,
    body: z.strictObject({
      decision: z.enum(["once", "always", "deny"]).describe("Approve once, approve always (creates a grant), or deny"),
      reason: z.string().max(4096).optional().describe("Reason, passed on to the agent"),
      grant: z
        .strictObject({
          args: z
            .union([z.literal("exact"), z.array(z.string().min(1).max(4096)).max(256)])
            .optional()
            .describe("Exactly these arguments (default), or one pattern per argument"),
          expiresMs: milliseconds
            .min(1)
            .optional()
            .describe("Duration of the grant in milliseconds; no expiry when omitted"),
        })
        .optional()
        .describe("Scope of the grant, with `always`"),
    }),
    response: ApprovalSchema,
    handle: ({ gateway, params, body, caller: { name, channel, peer } }) =>
      gateway.approvals.decide(params.id ?? "", { ...body, who: name, channel, ...(peer ? { peer } : {}) }),
  }),
  operation({
    method: "GET",
    path: "/v1/grants",
    id: "listGrants",
    summary: "List standing grants",
    roles: READERS,
    query: z.strictObject({
      agent: shortText(128).optional().describe("Only grants of this agent"),
      all: flag().optional().describe("Include revoked and expired grants"),
    }),
    response: z.object({ grants: z.array(GrantSchema).describe("Matching grants") }),
    handle: ({ gateway, query }) => ({ grants: gateway.approvals.grants.list(query).slice(0, MAX_LISTED) }),
  }),
  operation({
    method: "DELETE",
    path: "/v1/grants/:id",
    id: "revokeGrant",
    summary: "Revoke a grant",
    roles: DECIDERS,
    response: GrantSchema,
    handle: ({ gateway, params, caller: { name, channel } }) =>
      gateway.approvals.grants.revoke(params.id ?? "", { who: name, channel }),
  }),
];

/** Finds an approval. For an agent, the approvals of other agents are treated as if they did not exist. */
function find({ gateway, params, caller }: OperationCall<unknown, unknown>): Approval {
  const reference = params.id ?? "";
  if (caller.agent === null) return gateway.approvals.get(reference);
  try {
    const found = gateway.approvals.get(reference);
    if (found.agent === caller.agent) return found;
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error;
  }
  throw approvalNotFound(reference);
}
