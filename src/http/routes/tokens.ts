import * as z from "zod";
import { TOKEN_ROLES, tokenAuditEntry } from "../../storage/tokens.ts";
import { invalidInput } from "../errors.ts";
import { OPERATORS, type Operation, operation } from "../operation.ts";
import { flag, milliseconds, shortText } from "../schemas.ts";

const TokenSchema = z
  .object({
    id: z.string().describe("Token ID"),
    name: z.string().describe("Token name"),
    role: z.enum(TOKEN_ROLES).describe("Role"),
    agent: z.string().describe("Agent that the token acts as; empty for a person"),
    createdAt: z.string().describe("When the token was created (ISO 8601)"),
    createdBy: z.string().describe("Person who created the token"),
    expiresAt: z.string().nullable().describe("When the token expires (ISO 8601); null for no expiry"),
    lastUsedAt: z.string().nullable().describe("When the token was last used (ISO 8601)"),
    revokedAt: z.string().nullable().describe("When the token was revoked (ISO 8601)"),
  })
  .meta({ id: "Token" });

export const tokenOperations: readonly Operation[] = [
  operation({
    method: "GET",
    path: "/v1/tokens",
    id: "listTokens",
    summary: "List tokens",
    roles: OPERATORS,
    query: z.strictObject({ all: flag().optional().describe("Include revoked tokens") }),
    response: z.object({ tokens: z.array(TokenSchema).describe("Tokens, without their secrets") }),
    handle: ({ service, query: { all = false } }) => ({
      tokens: service.tokens.list().filter(({ revokedAt }) => all || revokedAt === null),
    }),
  }),
  operation({
    method: "POST",
    path: "/v1/tokens",
    id: "createToken",
    summary: "Create a token",
    roles: OPERATORS,
    body: z.strictObject({
      name: z.string().max(128).describe("Token name"),
      role: z.enum(TOKEN_ROLES).describe("Role"),
      agent: shortText(128).min(1).optional().describe("Agent that the token acts as; only with the role `agent`"),
      expiresMs: milliseconds.min(1).optional().describe("Lifetime in milliseconds; no expiry when omitted"),
    }),
    response: TokenSchema.extend({
      token: z.string().describe("The secret, which is only returned by this request"),
    }).meta({ id: "NewToken" }),
    status: 201,
    handle: ({ service, gateway, caller, body: { name, role, agent, expiresMs } }) => {
      if (role !== "agent" && agent !== undefined)
        throw invalidInput("body.agent", "is only allowed with the role `agent`");
      const whose = role === "agent" ? (agent ?? "default") : "";
      const made = service.tokens.create({ name, role, agent: whose, createdBy: caller.name, expiresMs });
      gateway.audit.append(tokenAuditEntry(made.token, "created", { who: caller.name, channel: caller.channel }));
      return { ...made.token, token: made.secret };
    },
  }),
  operation({
    method: "DELETE",
    path: "/v1/tokens/:id",
    id: "revokeToken",
    summary: "Revoke a token and its sign-ins",
    roles: OPERATORS,
    response: TokenSchema,
    handle: ({ service, gateway, caller, params }) => {
      const revoked = service.tokens.revoke(params.id ?? "");
      gateway.audit.append(tokenAuditEntry(revoked, "revoked", { who: caller.name, channel: caller.channel }));
      return revoked;
    },
  }),
];
