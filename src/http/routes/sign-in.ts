import type { IncomingMessage } from "node:http";
import * as z from "zod";
import type { SignIn } from "../../storage/sign-ins.ts";
import { TOKEN_ROLES, type TokenRole } from "../../storage/tokens.ts";
import type { Caller } from "../guard/caller.ts";
import { assertFromPerson, isPerson } from "../guard/peer.ts";
import { reportWrongSecret } from "../guard/wrong-secret.ts";
import { type Operation, operation, READERS_AND_AGENT } from "../operation.ts";
import type { Service } from "../service.ts";

const SIGN_IN_MS = 12 * 3600 * 1000;

interface Made {
  signIn: SignIn;
  key: string;
}

/** Creates a sign-in from a token or from the secret of a link, which works once. Returns null if neither is valid. */
function createSignIn(service: Service, secret: string, request: IncomingMessage): Made | null {
  const { signIns, gateway } = service;
  const found = byLink(service, secret) ?? byToken(service, secret);
  if (!found) return null;
  const { by, lastsMs, ...who } = found;
  const peer = isPerson(who.role) ? assertFromPerson(service, request, { ...who, channel: "console" }) : null;
  const made = signIns.create({ ...who, expiresMs: lastsMs });
  gateway.audit.append({
    kind: "sign-in",
    agent: who.agent,
    session: null,
    actor: who.name,
    channel: "console",
    outcome: "begun",
    summary: `${who.name} signed in with a ${by}`,
    detail: { role: who.role, expiresAt: made.signIn.expiresAt, ...(peer ? { peer } : {}) },
  });
  return made;
}

interface Found {
  name: string;
  role: TokenRole;
  agent: string;
  token: string | null;
  by: "link" | "token";
  lastsMs: number;
}

function byLink({ signIns }: Service, secret: string): Found | null {
  const link = signIns.takeLink(secret);
  return link && { ...link, agent: "", token: null, by: "link", lastsMs: SIGN_IN_MS };
}

/** Finds the token with this secret; null if there is none. A sign-in with a token does not outlast the token. */
function byToken({ tokens }: Service, secret: string): Found | null {
  const token = tokens.verify(secret);
  if (!token) return null;
  const { id, name, role, agent, expiresAt } = token;
  const left = expiresAt === null ? SIGN_IN_MS : Date.parse(expiresAt) - Date.now();
  return { name, role, agent, token: id, by: "token", lastsMs: Math.min(SIGN_IN_MS, left) };
}

const Me = z
  .object({
    name: z.string().describe("Name of the token or person"),
    role: z.enum(TOKEN_ROLES).describe("Role"),
    agent: z.string().nullable().describe("Agent that the token acts as; null for a person"),
    expiresAt: z.string().nullable().describe("When the token or sign-in expires (ISO 8601)"),
    version: z.string().describe("Version of Sallyport"),
  })
  .meta({ id: "Me" });

/** The maximum size of the body in bytes. It is small, because unauthenticated clients can send this body. */
const MAX_SIGN_IN_BODY = 8 << 10;

const me = (
  { name, role, agent, expiresAt }: Pick<Caller, "name" | "role" | "agent" | "expiresAt">,
  { version }: Service,
) => {
  return { name, role, agent, expiresAt, version };
};

export const signInOperations: readonly Operation[] = [
  operation({
    method: "GET",
    path: "/v1/me",
    id: "me",
    summary: "Get the caller's name and role",
    roles: READERS_AND_AGENT,
    response: Me,
    handle: ({ caller, service }) => me(caller, service),
  }),
  operation({
    method: "POST",
    path: "/v1/sign-in",
    id: "signIn",
    summary: "Sign in with a one-time link or a token",
    roles: "anyone",
    body: z.strictObject({ secret: z.string().min(1).max(512).describe("Secret of the link, or token") }),
    maxBodyBytes: MAX_SIGN_IN_BODY,
    response: Me.extend({ key: z.string().describe("Key to send as `X-Sallyport-Key` with every further request") }),
    handle: ({ service, body, request }) => {
      // A valid secret is accepted even from a rate-limited address: commands on this machine share the operator's
      // address and must not lock the operator out.
      const made = createSignIn(service, body.secret, request);
      if (!made) throw reportWrongSecret(service, request);
      const { signIn, key } = made;
      const agent = signIn.role === "agent" ? signIn.agent : null;
      return { ...me({ ...signIn, agent }, service), key };
    },
  }),
  operation({
    method: "POST",
    path: "/v1/sign-out",
    id: "signOut",
    summary: "Sign out",
    roles: READERS_AND_AGENT,
    response: z.object({}),
    handle: ({ service, caller, gateway }) => {
      if (caller.signIn !== null) {
        service.signIns.end(caller.signIn);
        gateway.audit.append(signOutEntry(caller));
      }
      return {};
    },
  }),
  operation({
    method: "POST",
    path: "/v1/tickets",
    id: "createTicket",
    summary: "Create a one-time ticket for an event stream or a download",
    roles: READERS_AND_AGENT,
    body: z.strictObject({
      path: z.string().min(1).max(1024).startsWith("/v1/").describe("Path that the ticket is for, without a query"),
    }),
    response: z.object({
      ticket: z.string().describe("Ticket to send as the query parameter `ticket`; works once, within 30 seconds"),
    }),
    handle: ({ service, caller, body }) => ({ ticket: service.tickets.issue(caller, body.path) }),
  }),
];

function signOutEntry({ name, role, agent, channel }: Caller) {
  return {
    kind: "sign-in",
    agent: agent ?? "",
    session: null,
    actor: name,
    channel,
    outcome: "ended",
    summary: `${name} signed out`,
    detail: { role },
  };
}
