import type { DatabaseSync } from "node:sqlite";
import type { Change, ChangeList, Position } from "../core/gateway.ts";
import { sessionInfo } from "../session/info.ts";
import { type Changed, Changes } from "../storage/changes.ts";
import type { GatewayContext } from "./context.ts";

const DEFAULT_LIMIT = 500;

/** Created on first use: most gateways are opened for one command and never read changes. */
const stores = new WeakMap<DatabaseSync, Changes>();

function storeOf(database: DatabaseSync): Changes {
  let store = stores.get(database);
  if (!store) {
    store = new Changes(database);
    stores.set(database, store);
  }
  return store;
}

/** Options for `since`. */
interface SinceOptions {
  /** The maximum number of log entries to read. The number of changes returned can be smaller. Default: 500. */
  limit?: number;
  /** The position to stop at. Default: the latest one. */
  until?: Position | undefined;
}

/**
 * The changes to sessions and approvals in a state folder, made by any process. In the view of an agent, only its own
 * sessions and approvals appear.
 */
export class ChangeFeed {
  readonly #context: GatewayContext;
  readonly #store: Changes;

  constructor(context: GatewayContext) {
    this.#context = context;
    this.#store = storeOf(context.database);
  }

  /** Returns the current position. */
  head(): Position {
    this.#context.registry.flush();
    return this.#store.head();
  }

  /** Returns a value that differs from the previous one when there are new changes. Cheap enough for polling. */
  stamp(): string {
    this.#context.registry.flush();
    return this.#store.stamp();
  }

  /**
   * Returns the sessions and approvals that changed after `position` and up to `until`, in their current state. Returns
   * null when `position` is too old; the caller must then read everything again.
   */
  since(position: Position, { limit = DEFAULT_LIMIT, until }: SinceOptions = {}): ChangeList | null {
    const { database, registry, agent, ownOnly } = this.#context;
    registry.flush();
    // One transaction for a consistent read: otherwise the state after a later change could be returned twice.
    database.exec("BEGIN");
    try {
      const read = this.#store.since(position, limit, until);
      if (!read) return null;
      const seen = ownOnly ? read.changed.filter((each) => each.agent === agent) : read.changed;
      const changes = seen.flatMap((each) => this.#now(each) ?? []);
      return { changes, position: read.position, more: read.more };
    } finally {
      database.exec("COMMIT");
    }
  }

  /**
   * Returns the current state of the changed session or approval. Returns null when the session was removed or has
   * ended, because a later entry then reports that.
   */
  #now({ what, id, agent, started, position }: Changed): Change | null {
    const { registry, approvals } = this.#context;
    if (what === "removed") return { type: "removed", id, agent, position };
    if (what === "session") {
      const row = registry.store.get(id);
      if (started && row?.status !== "running") return null;
      return row && { type: "session", session: sessionInfo(row, registry.executor), agent, position };
    }
    const approval = approvals.stored(id);
    return approval && { type: "approval", approval, agent, position };
  }
}
