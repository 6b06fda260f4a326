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
  `,
];
