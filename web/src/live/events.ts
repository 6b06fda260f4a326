import { createSignal } from "solid-js";
import type { Approval } from "../../../src/contract/approval.ts";
import type { SessionInfo } from "../../../src/contract/session.ts";
import { keyedAddress } from "../api/client.ts";
import type { Stats } from "../api/shapes.ts";
import { loadApprovals, noteApproval } from "./approvals.ts";
import { learnWhoIAm } from "./me.ts";
import { loadSessions, noteSession } from "./sessions.ts";
import { noteStats } from "./usage.ts";

/** `live`: events come as they happen; `waiting`: the browser tries to get back to the service. */
const [connection, setConnection] = createSignal<"connecting" | "live" | "waiting">("connecting");
const [auditHead, setAuditHead] = createSignal(0);

export { auditHead, connection };

const RETRY_MS = 2000;
let source: EventSource | null = null;
let retry = 0;

const reload = (): void => {
  void loadSessions();
  void loadApprovals();
};

/** One stream for the whole page. The browser resumes it by itself where it broke off, without a gap. */
export function connect(): void {
  disconnect();
  let loaded = false;
  source = new EventSource(keyedAddress("/v1/events"));
  on<{ sequence?: number }>("ready", ({ sequence }) => {
    setConnection("live");
    if (sequence !== undefined) setAuditHead(sequence);
    // From here on nothing is missed, so that what is read now stays current.
    if (!loaded) reload();
    loaded = true;
  });
  source.addEventListener("error", () => {
    setConnection("waiting");
    // Closed for good: refused, or answered with something else. The browser does not try again by itself then.
    if (source?.readyState !== EventSource.CLOSED) return;
    void learnWhoIAm();
    retry = window.setTimeout(connect, RETRY_MS);
  });
  on<SessionInfo>("session", (info) => noteSession(info.id, info));
  on<{ id: string }>("removed", ({ id }) => noteSession(id, null));
  on<Approval>("approval", noteApproval);
  on<Stats>("stats", noteStats);
  on<{ sequence: number }>("audit", ({ sequence }) => setAuditHead(sequence));
  source.addEventListener("reset", reload);
}

export function disconnect(): void {
  window.clearTimeout(retry);
  source?.close();
  source = null;
}

function on<T>(type: string, take: (data: T) => void): void {
  source?.addEventListener(type, (event) => take(JSON.parse((event as MessageEvent<string>).data) as T));
}
