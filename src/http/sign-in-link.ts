import type { AuditLog } from "../storage/audit.ts";
import type { SignIns } from "../storage/sign-ins.ts";

const LINK_MS = 10 * 60 * 1000;

/** Creates a one-time sign-in link for an operator and records it in the audit log. Returns its secret. */
export function createOperatorLink(signIns: SignIns, audit: AuditLog, who: string): string {
  const secret = signIns.makeLink({ name: who, role: "operator", expiresMs: LINK_MS });
  audit.append({
    kind: "sign-in",
    agent: "",
    session: null,
    actor: who,
    channel: "cli",
    outcome: "link made",
    summary: `created a sign-in link for ${who}`,
    detail: { role: "operator" },
  });
  return secret;
}

/** Returns the URL of a sign-in link. The secret is in the hash, which browsers do not send, so no log contains it. */
export function signInUrl(url: string, secret: string): string {
  return `${url}/sign-in#${secret}`;
}
