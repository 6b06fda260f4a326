import type { IncomingMessage } from "node:http";
import { type HttpError, tooManyAttempts, wrongSecret } from "../errors.ts";
import type { Service } from "../service.ts";

/**
 * Counts a wrong secret of a sign-in or a wrong token, and returns the error to respond with. The first failure from an
 * address is recorded in the audit log immediately; further failures are recorded as a count, at most once a minute.
 */
export function reportWrongSecret(
  { signInLimiter, gateway }: Pick<Service, "signInLimiter" | "gateway">,
  { socket }: Pick<IncomingMessage, "socket">,
): HttpError {
  const address = socket.remoteAddress ?? "";
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
    summary: `${attempts === 1 ? "a wrong secret" : `${attempts} wrong secrets`} from ${address || "an unknown address"}`,
    detail: { address, attempts },
  };
}
