import type { Approval } from "./approval.ts";
import type { SessionInfo } from "./session.ts";

/** Where in the story of a state folder somebody is who follows it. Outlives the gateway. */
export interface Position {
  /** The number of the last audit entry that is behind. */
  audit: number;
  /** The same of the changes that are in no audit entry. */
  change: number;
}

/** Something as it is by now; `position`: everything up to here is told when this is. */
export type Change = { agent: string; position: Position } & (
  | { type: "session"; session: SessionInfo }
  | { type: "removed"; id: string }
  | { type: "approval"; approval: Approval }
);

export interface ChangeList {
  changes: Change[];
  /** Where to go on. */
  position: Position;
  /** There is more to read at once. */
  more: boolean;
}
