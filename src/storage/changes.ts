import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Position } from "../core/gateway.ts";

/** Kinds of audit entries that start or end a session. Other changes are in the `changes` table. */
const OF_SESSIONS: ReadonlySet<string> = new Set(["run", "exit"]);

/** Outcomes of runs that started. Other runs have no exit entry. */
const LET_THROUGH: ReadonlySet<string> = new Set(["allowed", "approved", "granted"]);

/** The number of rows that the table keeps. A reader that is further behind must read everything again. */
const MOST_BEHIND = 20_000;

/** A changed object. Its current state is read from its own table. */
export interface Changed {
  what: "session" | "removed" | "approval";
  id: string;
  agent: string;
  /** True for the start of a session; its end is a separate change. */
  started: boolean;
  /** The position after this change. */
  position: Position;
}

/** The result of one read. The next read starts at `position`; `more` is true if there are further changes already. */
interface ChangesRead {
  changed: Changed[];
  position: Position;
  more: boolean;
}

/**
 * The changes of a state folder, in a persistent order that is the same for every gateway. They are read from the audit
 * log, which has the starts and ends of sessions, and from a table of the rarer changes, which is filled by triggers.
 * Following changes therefore adds no writes to a command.
 */
export class Changes {
  readonly #version: StatementSync;
  readonly #own: StatementSync;
  readonly #head: StatementSync;
  readonly #audit: StatementSync;
  readonly #rest: StatementSync;

  constructor(database: DatabaseSync) {
    // `data_version` counts commits of other connections, `total_changes` those of this one. Neither reads a table.
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

  /** Returns a stamp that differs from an earlier one if any connection has written since. */
  stamp(): string {
    return `${this.#version.get()?.data_version}/${this.#own.get()?.n}`;
  }

  head(): Position {
    const { audit, change } = this.#head.get() as unknown as { audit: number | null; change: number };
    return { audit: audit ?? 0, change };
  }

  /**
   * Returns each changed object once, at its last change, up to `until` or the current head. Null when `from` is too
   * old or belongs to another state folder. Call it in a transaction, so that later reads see the same state.
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
      // Moved to the end: a change must not be reported before its position.
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
