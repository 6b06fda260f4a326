import type { ListQuery } from "../core/gateway.ts";
import type { SessionInfo } from "../core/session.ts";
import type { Execution } from "./executor.ts";

export interface PeerQuery extends Omit<ListQuery, "agent" | "limit"> {
  /** Undefined: every agent's sessions, if this gateway may see them. */
  agent: string | undefined;
  /** The agent whose sessions are listed where those of every agent may not be seen. */
  own: string;
  limit: number;
}

export interface PeerListing {
  /** Newest first. */
  sessions: SessionInfo[];
  /** There are older sessions than these. */
  more: boolean;
  total: number;
  /** Machines that did not respond. */
  silent: string[];
  /** Machines whose release does not support listing. */
  tooOld: string[];
}

/** Sessions that other gateways started on the machines of this executor. */
export interface PeerSessions {
  list(query: PeerQuery): Promise<PeerListing>;
  /** Finds sessions by id, prefix of an id, or the name their gateway gave them. */
  find(reference: string, whose: Pick<PeerQuery, "agent" | "own">): Promise<SessionInfo[]>;
  /** Attaches to a live session; `told` is called with each new state. */
  visit(session: SessionInfo, told: (now: SessionInfo) => void): Execution & { refresh(): Promise<unknown> };
}
