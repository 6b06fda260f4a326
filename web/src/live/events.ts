import { createSignal } from "solid-js";
import type { SessionInfo } from "../../../src/core/session.ts";
import type { Stats } from "../api/shapes.ts";
import { type ApprovalEvent, loadApprovals, noteApprovalEvent } from "./approvals.ts";
import { loadMe } from "./me.ts";
import { loadSessions, noteSession, pollFleet } from "./sessions.ts";
import { type Connection, openSharedStream } from "./shared-stream.ts";
import { noteStats } from "./usage.ts";

/** `live` while events arrive, `waiting` while the browser tries to reconnect. */
const [connection, setConnection] = createSignal<Connection>("connecting");
const [auditHead, setAuditHead] = createSignal(0);

export { auditHead, connection };

let stop: (() => void) | null = null;

export function connect(): void {
  disconnect();
  stop = openSharedStream({
    onState: setConnection,
    onFresh: (sequence) => {
      setAuditHead((known) => Math.max(known, sequence));
      reload();
    },
    onEvent: (name, data) => HANDLERS[name]?.(data),
    onRefused: () => void loadMe(),
  });
}

export function disconnect(): void {
  stop?.();
  stop = null;
  pollFleet(false);
  setConnection("connecting");
}

function reload(): void {
  void loadSessions();
  void loadApprovals();
}

const HANDLERS: Record<string, (data: unknown) => void> = {
  session: (data) => noteSession((data as SessionInfo).id, data as SessionInfo),
  removed: (data) => noteSession((data as { id: string }).id, null),
  approval: (data) => void noteApprovalEvent(data as ApprovalEvent),
  stats: (data) => noteStats(data as Stats),
  audit: (data) => {
    setAuditHead((data as { sequence: number }).sequence);
  },
  reset: reload,
};
