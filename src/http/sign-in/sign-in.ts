import type { SignIn } from "../../storage/sign-ins.ts";
import type { TokenRole } from "../../storage/tokens.ts";
import type { Service } from "../service.ts";

const LASTS_MS = 12 * 3600 * 1000;

interface Made {
  signIn: SignIn;
  cookie: string;
  key: string;
  lastsMs: number;
}

/** Lets somebody in who shows the secret of a link, which is used up, or a token. Null: it is neither. */
export function signInWith(service: Service, secret: string): Made | null {
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
  return link && { ...link, agent: "", token: null, by: "link", lastsMs: LASTS_MS };
}

/** No longer than the token itself. */
function byToken({ tokens }: Service, secret: string): Found | null {
  const token = tokens.verify(secret);
  if (!token) return null;
  const { id, name, role, agent, expiresAt } = token;
  const left = expiresAt === null ? LASTS_MS : Date.parse(expiresAt) - Date.now();
  return { name, role, agent, token: id, by: "token", lastsMs: Math.min(LASTS_MS, left) };
}
