import type { ListQuery } from "../core/gateway.ts";
import type { SessionInfo } from "../core/session.ts";
import type { Execution } from "./executor.ts";

/** What is wanted of other gateways' sessions. */
export interface PeerQuery extends Omit<ListQuery, "agent" | "limit"> {
  /** Undefined: every agent's, where this gateway may see them. */
  agent: string | undefined;
  /** Where every agent's may not be seen, this one's. */
  own: string;
  limit: number;
}

export interface PeerListing {
  /** The newest first. */
  sessions: SessionInfo[];
  /** There are older ones than these. */
  more: boolean;
  total: number;
  /** Machines that gave no answer. */
  silent: string[];
  /** Machines whose release cannot tell. */
  tooOld: string[];
}

/** Sessions that other gateways had run on the same machines: each as its machine tells of it. */
export interface PeerSessions {
  list(query: PeerQuery): Promise<PeerListing>;
  /** By its id, the name its gateway has for it, or the beginning of its id. */
  find(reference: string, whose: Pick<PeerQuery, "agent" | "own">): Promise<SessionInfo[]>;
  /** A hold on one that lives; `told` hears how it is by now. */
  visit(session: SessionInfo, told: (now: SessionInfo) => void): Execution & { refresh(): Promise<unknown> };
}
