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
    sandbox     TEXT,                      -- JSON: what held it; NULL: it did not get that far
    warnings    TEXT NOT NULL DEFAULT '[]',
    hints       TEXT NOT NULL DEFAULT '[]',
    error       TEXT                       -- JSON
  ) WITHOUT ROWID;
  CREATE INDEX sessions_live ON sessions (agent) WHERE status = 'running' OR lingering = 1;

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

  -- How far the chain goes. New entries follow from here, so that a cut-off end is not silently grown over.
  CREATE TABLE audit_head (
    id       INTEGER PRIMARY KEY CHECK (id = 1),
    seq      INTEGER NOT NULL,
    hash     TEXT NOT NULL
  );
  INSERT INTO audit_head VALUES (1, 0, '');

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
    worker      TEXT,                      -- who has claimed it, by the name it gave
    note        TEXT,                      -- why it was given back last
    done_ms     INTEGER
  );
  CREATE INDEX work_due ON work (priority, id) WHERE done_ms IS NULL;
  CREATE INDEX work_done ON work (done_ms) WHERE done_ms IS NOT NULL;

  -- A person's say about one exact command.
  CREATE TABLE approvals (
    id          TEXT PRIMARY KEY,          -- UUIDv7: in order of creation
    agent       TEXT NOT NULL,
    status      TEXT NOT NULL,             -- pending, approved, denied, expired, used
    created_ms  INTEGER NOT NULL,
    expires_ms  INTEGER NOT NULL,
    fingerprint TEXT NOT NULL,             -- of the binding: the same thing is not asked twice
    request     TEXT NOT NULL,             -- JSON: what a person needs to decide
    binding     TEXT NOT NULL,             -- JSON: exactly what was asked for (promise 2)
    origin      TEXT NOT NULL,             -- the pid namespace it was asked from (promise 7)
    quorum      TEXT NOT NULL,             -- JSON: { rule, approvers }
    decisions   TEXT NOT NULL DEFAULT '[]',-- JSON: who, what, when, through which channel, why
    decided_ms  INTEGER,
    session     TEXT                       -- the run it was used for
  ) WITHOUT ROWID;
  CREATE INDEX approvals_open ON approvals (agent, fingerprint) WHERE status IN ('pending', 'approved');
  CREATE INDEX approvals_due ON approvals (expires_ms) WHERE status IN ('pending', 'approved');
  CREATE INDEX approvals_status ON approvals (status, id);

  -- When an entry of the configured allowlist last let something through.
  CREATE TABLE allowlist_use (
    pattern      TEXT PRIMARY KEY,
    last_used_ms INTEGER NOT NULL
  ) WITHOUT ROWID;

  -- What a person allowed for good.
  CREATE TABLE grants (
    id          TEXT PRIMARY KEY,
    agent       TEXT NOT NULL,
    executable  TEXT NOT NULL,             -- resolved path
    identity    TEXT NOT NULL,             -- of the program: another one at that path is not granted
    args        TEXT NOT NULL,             -- JSON: exact arguments or patterns
    cwd         TEXT NOT NULL,             -- links followed
    piped       INTEGER NOT NULL,
    approval    TEXT,                      -- the one it came from
    created_ms  INTEGER NOT NULL,
    created_by  TEXT NOT NULL,
    expires_ms  INTEGER,
    last_used_ms INTEGER,
    revoked_ms  INTEGER,
    change      INTEGER NOT NULL           -- counts every grant made or revoked, so that a cache knows when it is old
  ) WITHOUT ROWID;
  CREATE UNIQUE INDEX grants_change ON grants (change);
  `,
  `
  -- What programs show instead of a person at a keyboard. Only hashes: who reads this file can use none of them.
  CREATE TABLE tokens (
    id           TEXT PRIMARY KEY,         -- UUIDv7: in order of creation
    name         TEXT NOT NULL UNIQUE,
    role         TEXT NOT NULL,
    agent        TEXT NOT NULL,            -- on whose behalf it may act
    hash         TEXT NOT NULL UNIQUE,     -- SHA-256
    created_ms   INTEGER NOT NULL,
    created_by   TEXT NOT NULL,
    expires_ms   INTEGER,
    last_used_ms INTEGER,
    revoked_ms   INTEGER
  ) WITHOUT ROWID;
  `,
  `
  ALTER TABLE sessions ADD COLUMN limits TEXT; -- JSON: those of its process tree; NULL: from before there were any
  `,
  `
  -- What changed, for those who follow it, where the audit does not tell. It keeps itself short.
  CREATE TABLE changes (
    seq    INTEGER PRIMARY KEY,
    what   TEXT NOT NULL,                  -- session, removed, approval
    id     TEXT NOT NULL,
    agent  TEXT NOT NULL
  );
  CREATE TRIGGER changes_kept_short AFTER INSERT ON changes BEGIN
    DELETE FROM changes WHERE seq <= new.seq - 20000;
  END;
  -- Starts and ends are in the audit already: these are the rest, none of them on the way of a foreground command.
  CREATE TRIGGER session_changed AFTER UPDATE OF pid, background, timeout_ms ON sessions BEGIN
    INSERT INTO changes (what, id, agent) VALUES ('session', new.id, new.agent);
  END;
  CREATE TRIGGER session_ended_at_last AFTER UPDATE OF lingering ON sessions WHEN old.lingering = 1 BEGIN
    INSERT INTO changes (what, id, agent) VALUES ('session', new.id, new.agent);
  END;
  CREATE TRIGGER session_removed AFTER DELETE ON sessions BEGIN
    INSERT INTO changes (what, id, agent) VALUES ('removed', old.id, old.agent);
  END;
  CREATE TRIGGER approval_asked AFTER INSERT ON approvals BEGIN
    INSERT INTO changes (what, id, agent) VALUES ('approval', new.id, new.agent);
  END;
  CREATE TRIGGER approval_changed AFTER UPDATE ON approvals BEGIN
    INSERT INTO changes (what, id, agent) VALUES ('approval', new.id, new.agent);
  END;
  `,
  `
  -- Links that let a person in once. Used: gone.
  CREATE TABLE sign_in_links (
    hash         TEXT PRIMARY KEY,         -- SHA-256 of the secret in the link
    name         TEXT NOT NULL,
    role         TEXT NOT NULL,
    expires_ms   INTEGER NOT NULL
  ) WITHOUT ROWID;

  -- Who is signed in to the page. Only hashes, as with tokens.
  CREATE TABLE sign_ins (
    id           TEXT PRIMARY KEY,         -- UUIDv7: in order of creation
    hash         TEXT NOT NULL UNIQUE,     -- SHA-256 of the cookie's secret and the page's together
    name         TEXT NOT NULL,
    role         TEXT NOT NULL,
    agent        TEXT NOT NULL,
    token        TEXT,                     -- the token that was shown: it ends with it; NULL: a link was used
    created_ms   INTEGER NOT NULL,
    expires_ms   INTEGER NOT NULL
  ) WITHOUT ROWID;
  `,
  `
  ALTER TABLE sessions ADD COLUMN host TEXT; -- where it runs or ran, if not on this machine
  `,
  `
  ALTER TABLE sessions ADD COLUMN asked_by TEXT; -- JSON: the gateway of a fleet that has it run here, if one does
  `,
];
