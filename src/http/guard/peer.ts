/** Refuses requests with a person's credentials from a process of a session (invariant 7). */
import type { IncomingMessage } from "node:http";
import { notFromPerson } from "../../approval/errors.ts";
import { type Peer, peerOf } from "../../approval/peer-process.ts";
import type { TokenRole } from "../../storage/tokens.ts";
import { shownLine } from "../../text/visible.ts";
import type { Service } from "../service.ts";

/** The peers of open connections. A search takes milliseconds, and a connection does not change its owner. */
const found = new WeakMap<IncomingMessage["socket"], Peer>();

/** Reports whether a role can approve commands or act on the sessions of every agent. A command must not have it. */
export function isPerson(role: TokenRole): boolean {
  return role === "approver" || role === "operator";
}

/** Refusals since the last audit entry. A command in a loop must not fill the audit log (invariant 6). */
const refusals = new WeakMap<object, { count: number; reportedAt: number }>();
const REPORT_EVERY_MS = 10_000;

/** Counts a refusal. Returns the number to report now, or null when the last report is recent. */
function toReport(gateway: object): number | null {
  const last = refusals.get(gateway) ?? { count: 0, reportedAt: Number.NEGATIVE_INFINITY };
  const count = last.count + 1;
  const now = performance.now();
  const report = now - last.reportedAt >= REPORT_EVERY_MS;
  refusals.set(gateway, report ? { count: 0, reportedAt: now } : { ...last, count });
  return report ? count : null;
}

/** Returns a description of the process that sent the request. Throws when it belongs to a session. */
export function assertFromPerson(
  { gateway }: Pick<Service, "gateway">,
  { socket, method, url }: IncomingMessage,
  who: { name: string; role: string; channel: string },
): string {
  let peer = found.get(socket);
  if (!peer) {
    peer = peerOf(socket);
    if (peer.kind !== "unknown") found.set(socket, peer);
  }
  const text = peerText(peer);
  if (peer.kind === "person" || peer.kind === "remote") return text;
  const path = (url ?? "").replace(/\?.*$/, "").slice(0, 256);
  const attempts = toReport(gateway);
  if (attempts !== null) {
    gateway.audit.append({
      kind: "sign-in",
      agent: "",
      session: null,
      actor: who.name,
      channel: who.channel,
      outcome: "refused",
      summary: `${method} ${shownLine(path)} with the credentials of ${who.name}, from ${text}`,
      detail: { role: who.role, peer, attempts },
    });
  }
  throw notFromPerson(text);
}

function peerText(peer: Peer): string {
  if (peer.kind === "remote") return peer.address;
  if (peer.kind === "unknown") return `a local process that cannot be determined: ${peer.why}`;
  const process = `${shownLine(peer.program)} (pid ${peer.pid})`;
  return peer.kind === "session" ? `a command of a session, ${process}` : process;
}
