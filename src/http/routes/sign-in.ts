import { generateCookie } from "hono/cookie";
import * as z from "zod";
import type { SignIn } from "../../storage/sign-ins.ts";
import { TOKEN_ROLES, type TokenRole } from "../../storage/tokens.ts";
import { type HttpError, tooManyAttempts, wrongSecret } from "../errors.ts";
import { type Caller, COOKIE } from "../guard/authenticate.ts";
import { type Operation, operation, READERS_AND_AGENT } from "../operation.ts";
import type { Service } from "../service.ts";

const SIGN_IN_MS = 12 * 3600 * 1000;

interface Made {
  signIn: SignIn;
  cookie: string;
  key: string;
  lastsMs: number;
}

/** Lets somebody in who shows the secret of a link, which is used up, or a token. Null: it is neither. */
function createSignIn(service: Service, secret: string): Made | null {
  const { signIns, gateway } = service;
  const found = byLink(service, secret) ?? byToken(service, secret);
  if (!found) return null;
  const { by, lastsMs, ...who } = found;
  const made = signIns.create({ ...who, expiresMs: lastsMs });
  gateway.audit.append({
    kind: "sign-in",
    agent: who.agent,
    session: null,
    actor: who.name,
    channel: "console",
    outcome: "begun",
    summary: `${who.name} signed in with a ${by}`,
    detail: { role: who.role, expiresAt: made.signIn.expiresAt },
  });
  return { ...made, lastsMs };
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

/** No longer than the token itself. */
function byToken({ tokens }: Service, secret: string): Found | null {
  const token = tokens.verify(secret);
  if (!token) return null;
  const { id, name, role, agent, expiresAt } = token;
  const left = expiresAt === null ? SIGN_IN_MS : Date.parse(expiresAt) - Date.now();
  return { name, role, agent, token: id, by: "token", lastsMs: Math.min(SIGN_IN_MS, left) };
}

const Me = z
  .object({
    name: z.string(),
    role: z.enum(TOKEN_ROLES),
    agent: z.string().nullable(),
    expiresAt: z.string().nullable(),
    version: z.string(),
  })
  .meta({ id: "Me" });

/** Anybody may send it: room for the secret, and no more. */
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
    summary: "Who you are to the service",
    roles: READERS_AND_AGENT,
    response: Me,
    handle: ({ caller, service }) => me(caller, service),
  }),
  operation({
    method: "POST",
    path: "/v1/sign-in",
    id: "signIn",
    summary: "Sign in with the secret of a link, or with a token",
    roles: "anyone",
    body: z.strictObject({ secret: z.string().min(1).max(512) }),
    maxBodyBytes: MAX_SIGN_IN_BODY,
    response: Me.extend({ key: z.string().describe("To be sent as X-Sallyport-Key with every further request") }),
    handle: ({ service, body, request }) => {
      const address = request.socket.remoteAddress ?? "";
      // The secret counts before the address: commands of this machine share the operator's, and must not lock them out.
      const made = createSignIn(service, body.secret);
      if (!made) throw refusal(service, address);
      const { signIn, cookie, key, lastsMs } = made;
      const agent = signIn.role === "agent" ? signIn.agent : null;
      const headers = { "set-cookie": sessionCookie(service, cookie, Math.floor(lastsMs / 1000)) };
      return Response.json({ ...me({ ...signIn, agent }, service), key }, { headers });
    },
  }),
  operation({
    method: "POST",
    path: "/v1/sign-out",
    id: "signOut",
    summary: "End this sign-in",
    roles: READERS_AND_AGENT,
    response: z.object({}),
    handle: ({ service, caller, gateway }) => {
      if (caller.signIn !== null) {
        service.signIns.end(caller.signIn);
        gateway.audit.append(signOutEntry(caller));
      }
      return Response.json({}, { headers: { "set-cookie": sessionCookie(service, "", 0) } });
    },
  }),
];

/** A wrong secret is slowed down, and written down: the first of an address, then one each minute with their number. */
function refusal({ signInLimiter, gateway }: Service, address: string): HttpError {
  const failures = signInLimiter.toReport(address);
  if (failures !== null) gateway.audit.append(failedEntry(address, failures));
  const waitMs = signInLimiter.waitMs(address);
  if (waitMs > 0) return tooManyAttempts(waitMs);
  signInLimiter.failed(address);
  return wrongSecret();
}

function failedEntry(address: string, attempts: number) {
  return {
    kind: "sign-in",
    agent: "",
    session: null,
    actor: address,
    channel: "console",
    outcome: "refused",
    summary: `${attempts === 1 ? "a wrong secret" : `${attempts} wrong secrets`} from ${address || "nowhere"}`,
    detail: { address, attempts },
  };
}

/** Strict: no other site can have it sent. HttpOnly: no script can read it. */
function sessionCookie({ secure }: Service, value: string, seconds: number): string {
  return generateCookie(COOKIE, value, { path: "/", maxAge: seconds, httpOnly: true, secure, sameSite: "Strict" });
}

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
