import type { DatabaseSync } from "node:sqlite";
import type { Change, ChangeList, Position } from "../core/gateway.ts";
import { sessionInfo } from "../session/info.ts";
import { type Changed, Changes } from "../storage/changes.ts";
import type { GatewayContext } from "./context.ts";

const DEFAULT_LIMIT = 500;

/** Prepared when somebody first follows: most gateways are opened for one command. */
const stores = new WeakMap<DatabaseSync, Changes>();

function storeOf(database: DatabaseSync): Changes {
  let store = stores.get(database);
  if (!store) {
    store = new Changes(database);
    stores.set(database, store);
  }
  return store;
}

interface SinceOptions {
  /** Of entries read, not of things told. */
  limit?: number;
  until?: Position | undefined;
}

/** What happens in a state folder, whoever does it, for those who follow it; an agent's view has its own only. */
export class ChangeFeed {
  readonly #context: GatewayContext;
  readonly #store: Changes;

  constructor(context: GatewayContext) {
    this.#context = context;
    this.#store = storeOf(context.database);
  }

  /** Where the story is now. */
  head(): Position {
    this.#context.registry.flush();
    return this.#store.head();
  }

  /** Cheap to ask for, again and again: only when it differs from before is there anything to read. */
  stamp(): string {
    this.#context.registry.flush();
    return this.#store.stamp();
  }

  /** What changed since (and up to `until`), as it is by now. Null: that is too long ago to tell, and everything is to be looked at anew. */
  since(position: Position, { limit = DEFAULT_LIMIT, until }: SinceOptions = {}): ChangeList | null {
    const { database, registry, agent, ownOnly } = this.#context;
    registry.flush();
    // One moment for all that is read: otherwise a thing could be told as it is after its next change, and then again.
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

  /** Null: it is gone by now, which is told in its place; or it has ended, and is told of there. */
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
