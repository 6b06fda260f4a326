import * as z from "zod";
import { approvalNotFound } from "../../approval/errors.ts";
import type { Approval } from "../../core/approval.ts";
import { SallyportError } from "../../core/error.ts";
import { DECIDERS, type Operation, type OperationCall, operation, READERS, READERS_AND_AGENT } from "../operation.ts";
import { ApprovalSchema, count, flag, GrantSchema, milliseconds, shortText } from "../schemas.ts";

const MAX_LISTED = 1000;
const STATUSES = ["pending", "approved", "denied", "expired", "used"] as const;

export const approvalOperations: readonly Operation[] = [
  operation({
    method: "GET",
    path: "/v1/approvals",
    id: "listApprovals",
    summary: "What waits for a person, or was decided; the newest first",
    roles: READERS_AND_AGENT,
    query: z.strictObject({
      status: z.enum([...STATUSES, "all"]).optional(),
      agent: shortText(128).optional(),
      limit: count(MAX_LISTED).optional(),
    }),
    response: z.object({ approvals: z.array(ApprovalSchema) }),
    handle: ({ gateway, caller, query: { status = "pending", agent = caller.agent ?? undefined, limit = 200 } }) => {
      if (caller.agent !== null && agent !== caller.agent) return { approvals: [] };
      const wanted = status === "all" ? {} : { status };
      return { approvals: gateway.approvals.list({ ...wanted, limit, ...(agent === undefined ? {} : { agent }) }) };
    },
  }),
  operation({
    method: "GET",
    path: "/v1/approvals/:id",
    id: "getApproval",
    summary: "One request to a person, with everything they are shown",
    roles: READERS_AND_AGENT,
    response: ApprovalSchema,
    handle: (call) => find(call),
  }),
  operation({
    method: "POST",
    path: "/v1/approvals/:id/decision",
    id: "decide",
    summary: "Say yes once, yes always, or no. Somebody else may have been quicker: 409 tells who, and what they said",
    roles: DECIDERS,
    body: z.strictObject({
      decision: z.enum(["once", "always", "deny"]),
      reason: z.string().max(4096).optional().describe("Goes back to the agent"),
      grant: z
        .strictObject({
          args: z.union([z.literal("exact"), z.array(z.string().min(1).max(4096)).max(256)]).optional(),
          expiresMs: milliseconds.min(1).optional(),
        })
        .optional()
        .describe("With `always`: how wide, and for how long"),
    }),
    response: ApprovalSchema,
    handle: ({ gateway, params, body, caller: { name, channel } }) =>
      gateway.approvals.decide(params.id ?? "", { ...body, who: name, channel }),
  }),
  operation({
    method: "GET",
    path: "/v1/grants",
    id: "listGrants",
    summary: "What persons allowed for good; with all also what was taken back or has expired",
    roles: READERS,
    query: z.strictObject({ agent: shortText(128).optional(), all: flag().optional() }),
    response: z.object({ grants: z.array(GrantSchema) }),
    handle: ({ gateway, query }) => ({ grants: gateway.approvals.grants.list(query).slice(0, MAX_LISTED) }),
  }),
  operation({
    method: "DELETE",
    path: "/v1/grants/:id",
    id: "revokeGrant",
    summary: "Take a grant back",
    roles: DECIDERS,
    response: GrantSchema,
    handle: ({ gateway, params, caller: { name, channel } }) =>
      gateway.approvals.grants.revoke(params.id ?? "", { who: name, channel }),
  }),
];

/** An agent gets its own; of others it does not learn whether they exist. */
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
