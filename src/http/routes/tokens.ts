import * as z from "zod";
import { TOKEN_ROLES, tokenAuditEntry } from "../../storage/tokens.ts";
import { invalidInput } from "../errors.ts";
import { OPERATORS, type Operation, operation } from "../operation.ts";
import { flag, milliseconds, shortText } from "../schemas.ts";

const TokenSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    role: z.enum(TOKEN_ROLES),
    agent: z.string().describe("Empty for a person"),
    createdAt: z.string(),
    createdBy: z.string(),
    expiresAt: z.string().nullable(),
    lastUsedAt: z.string().nullable(),
    revokedAt: z.string().nullable(),
  })
  .meta({ id: "Token" });

export const tokenOperations: readonly Operation[] = [
  operation({
    method: "GET",
    path: "/v1/tokens",
    id: "listTokens",
    summary: "The tokens that programs and persons show; never their secrets",
    roles: OPERATORS,
    query: z.strictObject({ all: flag().optional() }),
    response: z.object({ tokens: z.array(TokenSchema) }),
    handle: ({ service, query: { all = false } }) => ({
      tokens: service.tokens.list().filter(({ revokedAt }) => all || revokedAt === null),
    }),
  }),
  operation({
    method: "POST",
    path: "/v1/tokens",
    id: "createToken",
    summary: "Make a token; the answer is the only one with its secret",
    roles: OPERATORS,
    body: z.strictObject({
      name: z.string().max(128),
      role: z.enum(TOKEN_ROLES),
      agent: shortText(128).min(1).optional().describe("For the role agent: on whose behalf"),
      expiresMs: milliseconds.min(1).optional(),
    }),
    response: TokenSchema.extend({ token: z.string() }).meta({ id: "NewToken" }),
    status: 201,
    handle: ({ service, gateway, caller, body: { name, role, agent, expiresMs } }) => {
      if (role !== "agent" && agent !== undefined) throw invalidInput("body.agent", `a ${role} is a person`);
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
    summary: "Make a token worthless, and every sign-in with it",
    roles: OPERATORS,
    response: TokenSchema,
    handle: ({ service, gateway, caller, params }) => {
      const revoked = service.tokens.revoke(params.id ?? "");
      gateway.audit.append(tokenAuditEntry(revoked, "revoked", { who: caller.name, channel: caller.channel }));
      return revoked;
    },
  }),
];
