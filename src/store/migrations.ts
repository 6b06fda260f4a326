/** Each entry brings the database from the version of its index to the next. Never edit one that was released. */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE sessions (
    id          TEXT PRIMARY KEY,          -- UUIDv7: in order of creation
    name        TEXT NOT NULL UNIQUE,
    agent       TEXT NOT NULL,
    status      TEXT NOT NULL,
    command     TEXT NOT NULL,
    args        TEXT,                      -- JSON; NULL: command is shell text
    cwd         TEXT NOT NULL,
    env_names   TEXT NOT NULL,             -- JSON; never the values
    background  INTEGER NOT NULL,
    capture     TEXT NOT NULL,
    intent      TEXT,
    log_file    TEXT,
    timeout_ms  INTEGER NOT NULL,
    keeper_pid  INTEGER NOT NULL,
    pid         INTEGER,
    created_ms  INTEGER NOT NULL,
    ended_ms    INTEGER,
    lingering   INTEGER NOT NULL DEFAULT 0,
    bytes       INTEGER NOT NULL DEFAULT 0, -- on disk, for retention
    record      TEXT,                      -- the exit record, JSON
    warnings    TEXT NOT NULL DEFAULT '[]',
    error       TEXT                       -- JSON
  ) WITHOUT ROWID;
  CREATE INDEX sessions_live ON sessions (id) WHERE status = 'running' OR lingering = 1;

  -- Who asked for what, what was decided and what became of it. Each entry's hash covers the one before it.
  CREATE TABLE audit (
    seq      INTEGER PRIMARY KEY,
    at_ms    INTEGER NOT NULL,
    kind     TEXT NOT NULL,                -- run, approval, stdin, signal, exit, config …
    agent    TEXT NOT NULL,
    session  TEXT,
    actor    TEXT NOT NULL,                -- who did it: an agent, a person, the system
    channel  TEXT NOT NULL,                -- through which surface
    outcome  TEXT NOT NULL,                -- allowed, blocked, denied, asked, completed …
    summary  TEXT NOT NULL,                -- one line for a person, secrets masked
    detail   TEXT NOT NULL,                -- JSON, secrets masked
    hash     TEXT NOT NULL
  );
  CREATE INDEX audit_session ON audit (session) WHERE session IS NOT NULL;

  -- What is to be done once by somebody: exit callbacks first of all.
  CREATE TABLE work (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    key         TEXT NOT NULL UNIQUE,      -- the same thing is never put in twice
    type        TEXT NOT NULL,
    priority    INTEGER NOT NULL,          -- 0 HIGH, 1 NORMAL, 2 LOW
    payload     TEXT NOT NULL,             -- JSON
    created_ms  INTEGER NOT NULL,
    due_ms      INTEGER NOT NULL,          -- not before; also the end of a lease
    attempts    INTEGER NOT NULL DEFAULT 0,
    lease       TEXT,                      -- who has claimed it, by an unguessable token
    done_ms     INTEGER
  );
  CREATE INDEX work_due ON work (priority, id) WHERE done_ms IS NULL;

  -- A person's say about one exact command.
  CREATE TABLE approvals (
    id          TEXT PRIMARY KEY,
    agent       TEXT NOT NULL,
    status      TEXT NOT NULL,             -- pending, approved, denied, expired, used
    created_ms  INTEGER NOT NULL,
    expires_ms  INTEGER NOT NULL,
    request     TEXT NOT NULL,             -- JSON: what a person needs to decide
    binding     TEXT NOT NULL,             -- JSON: exactly what was asked for (promise 2)
    quorum      TEXT NOT NULL,             -- JSON: { rule, approvers }
    decisions   TEXT NOT NULL DEFAULT '[]',-- JSON: who, what, when, through which channel, why
    decided_ms  INTEGER,
    session     TEXT                       -- the run it was used for
  ) WITHOUT ROWID;
  CREATE INDEX approvals_pending ON approvals (created_ms) WHERE status = 'pending';

  -- What a person allowed for good.
  CREATE TABLE grants (
    id          TEXT PRIMARY KEY,
    agent       TEXT NOT NULL,
    executable  TEXT NOT NULL,             -- resolved path
    args        TEXT NOT NULL,             -- JSON: exact arguments or a pattern
    cwd         TEXT NOT NULL,
    note        TEXT,
    created_ms  INTEGER NOT NULL,
    created_by  TEXT NOT NULL,
    expires_ms  INTEGER,
    last_used_ms INTEGER,
    revoked_ms  INTEGER
  ) WITHOUT ROWID;
  `,
];
