import type { AuditLog } from "../storage/audit.ts";
import type { SignIns } from "../storage/sign-ins.ts";

const LINK_MS = 10 * 60 * 1000;

/** The secret of a link that makes this person an operator, once and soon. It is written down that it was made. */
export function createOperatorLink(signIns: SignIns, audit: AuditLog, who: string): string {
  const secret = signIns.makeLink({ name: who, role: "operator", expiresMs: LINK_MS });
  audit.append({
    kind: "sign-in",
    agent: "",
    session: null,
    actor: who,
    channel: "cli",
    outcome: "link made",
    summary: `a link for ${who}`,
    detail: { role: "operator" },
  });
  return secret;
}

/** After `#` nothing is sent to a server or in a referrer: the secret is in no log. */
export function signInUrl(url: string, secret: string): string {
  return `${url}/sign-in#${secret}`;
}
