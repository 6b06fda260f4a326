import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Position } from "../core/gateway.ts";

/** Entries of the audit that begin or end a session; what else changes one is in `changes`. */
const OF_SESSIONS: ReadonlySet<string> = new Set(["run", "exit"]);

/** The others never ran, and have no second entry. */
const LET_THROUGH: ReadonlySet<string> = new Set(["allowed", "approved", "granted"]);

/** Who is further behind is told to look at everything anew; the table keeps as many. */
const MOST_BEHIND = 20_000;

/** What changed, not how: what it is like by now is read from its own table. */
export interface Changed {
  what: "session" | "removed" | "approval";
  id: string;
  agent: string;
  /** It started then: whether it has ended since is told at its end. */
  started: boolean;
  /** After this one. */
  position: Position;
}

/** Read at one moment: `position` is where the next reading begins; `more`: it should be at once. */
interface ChangesRead {
  changed: Changed[];
  position: Position;
  more: boolean;
}

/**
 * What happened in a state folder, in an order that every gateway on it sees alike and that outlives all of them. Two
 * rows together: the audit, which has starts and ends anyway, and a table filled by triggers with everything rarer. So
 * following costs a command nothing.
 */
export class Changes {
  readonly #version: StatementSync;
  readonly #own: StatementSync;
  readonly #head: StatementSync;
  readonly #audit: StatementSync;
  readonly #rest: StatementSync;

  constructor(database: DatabaseSync) {
    // The first counts what other connections commit, the second what this one does. Neither reads a table.
    this.#version = database.prepare("PRAGMA data_version");
    this.#own = database.prepare("SELECT total_changes() AS n");
    this.#head = database.prepare(
      "SELECT (SELECT seq FROM audit_head) AS audit, (SELECT coalesce(max(seq), 0) FROM changes) AS change",
    );
    this.#audit = database.prepare(
      "SELECT seq, kind, outcome, session, agent FROM audit WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?",
    );
    this.#rest = database.prepare(
      "SELECT seq, what, id, agent FROM changes WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?",
    );
  }

  /** Differs from an earlier answer if anything was written since, by whomever. */
  stamp(): string {
    return `${this.#version.get()?.data_version}/${this.#own.get()?.n}`;
  }

  head(): Position {
    const { audit, change } = this.#head.get() as unknown as { audit: number | null; change: number };
    return { audit: audit ?? 0, change };
  }

  /**
   * Each thing that changed once, at its last change, up to now or to another position. Null: it is too long ago, or a position of another state folder.
   * Within a transaction, so that what is read next fits.
   */
  since(from: Position, limit: number, until?: Position): ChangesRead | null {
    const head = until ?? this.head();
    if (from.audit > head.audit || from.change > head.change) return null;
    if (head.audit - from.audit > MOST_BEHIND || head.change - from.change >= MOST_BEHIND) return null;
    const entries = this.#audit.all(from.audit, head.audit, limit) as unknown as AuditKeys[];
    const rest = this.#rest.all(from.change, head.change, limit) as unknown as ChangeRow[];
    const position = { audit: entries.at(-1)?.seq ?? from.audit, change: rest.at(-1)?.seq ?? from.change };
    const latest = new Map<string, Changed>();
    const note = (changed: Changed) => {
      // The last mention decides the place, too: nothing is told before its position.
      latest.delete(`${changed.what} ${changed.id}`);
      latest.set(`${changed.what} ${changed.id}`, changed);
    };
    for (const { seq, kind, outcome, session, agent } of entries) {
      if (session === null || !OF_SESSIONS.has(kind)) continue;
      const started = kind === "run" && LET_THROUGH.has(outcome);
      note({ what: "session", id: session, agent, started, position: { audit: seq, change: from.change } });
    }
    for (const { seq, what, id, agent } of rest) {
      note({ what, id, agent, started: false, position: { audit: position.audit, change: seq } });
    }
    const more = position.audit < head.audit || position.change < head.change;
    return { changed: [...latest.values()], position, more };
  }
}

interface AuditKeys {
  seq: number;
  kind: string;
  outcome: string;
  session: string | null;
  agent: string;
}

interface ChangeRow {
  seq: number;
  what: Changed["what"];
  id: string;
  agent: string;
}
