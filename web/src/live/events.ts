import { createSignal } from "solid-js";
import type { SessionInfo } from "../../../src/core/session.ts";
import type { Stats } from "../api/shapes.ts";
import { loadApprovals, noteToldApproval, type ToldApproval } from "./approvals.ts";
import { learnWhoIAm } from "./me.ts";
import { loadSessions, lookAround, noteSession } from "./sessions.ts";
import { type Connection, openSharedStream } from "./shared-stream.ts";
import { noteStats } from "./usage.ts";

/** `live`: events come as they happen; `waiting`: the browser tries to get back to the service. */
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
    onEvent: (name, data) => TAKERS[name]?.(data),
    onRefused: () => void learnWhoIAm(),
  });
}

export function disconnect(): void {
  stop?.();
  stop = null;
  lookAround(false);
  setConnection("connecting");
}

function reload(): void {
  void loadSessions();
  void loadApprovals();
}

const TAKERS: Record<string, (data: unknown) => void> = {
  session: (data) => noteSession((data as SessionInfo).id, data as SessionInfo),
  removed: (data) => noteSession((data as { id: string }).id, null),
  approval: (data) => void noteToldApproval(data as ToldApproval),
  stats: (data) => noteStats(data as Stats),
  audit: (data) => {
    setAuditHead((data as { sequence: number }).sequence);
  },
  reset: reload,
};
