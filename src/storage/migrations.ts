/**
 * The entry at index N migrates the database from version N to N + 1. Never change the statements of a released entry.
 */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE sessions (
    id          TEXT PRIMARY KEY,          -- UUIDv7: in order of creation
    name        TEXT NOT NULL UNIQUE,
    agent       TEXT NOT NULL,
    status      TEXT NOT NULL,
    command     TEXT NOT NULL,
    args        TEXT,                      -- JSON; NULL when command is shell text
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
    sandbox     TEXT,                      -- JSON: the sandbox snapshot; NULL if refused before it was planned
    warnings    TEXT NOT NULL DEFAULT '[]',
    hints       TEXT NOT NULL DEFAULT '[]',
    error       TEXT                       -- JSON
  ) WITHOUT ROWID;
  CREATE INDEX sessions_live ON sessions (agent) WHERE status = 'running' OR lingering = 1;

  -- Requests, decisions and outcomes. Each entry's hash covers the previous entry.
  CREATE TABLE audit (
    seq      INTEGER PRIMARY KEY,
    at_ms    INTEGER NOT NULL,
    kind     TEXT NOT NULL,                -- run, approval, stdin, signal, exit, config …
    agent    TEXT NOT NULL,
    session  TEXT,
    actor    TEXT NOT NULL,                -- an agent, a person or the system
    channel  TEXT NOT NULL,                -- the surface that was used
    outcome  TEXT NOT NULL,                -- allowed, blocked, denied, asked, completed …
    summary  TEXT NOT NULL,                -- one line for people, secrets masked
    detail   TEXT NOT NULL,                -- JSON, secrets masked
    hash     TEXT NOT NULL
  );
  CREATE INDEX audit_session ON audit (session) WHERE session IS NOT NULL;

  -- The head of the chain. New entries are linked to it, so that a truncated end is detected and not overwritten.
  CREATE TABLE audit_head (
    id       INTEGER PRIMARY KEY CHECK (id = 1),
    seq      INTEGER NOT NULL,
    hash     TEXT NOT NULL
  );
  INSERT INTO audit_head VALUES (1, 0, '');

  -- The work queue: items that one consumer processes once, mainly exit callbacks.
  CREATE TABLE work (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    key         TEXT NOT NULL UNIQUE,      -- prevents duplicates
    type        TEXT NOT NULL,
    priority    INTEGER NOT NULL,          -- 0 HIGH, 1 NORMAL, 2 LOW
    payload     TEXT NOT NULL,             -- JSON
    created_ms  INTEGER NOT NULL,
    due_ms      INTEGER NOT NULL,          -- earliest time of a claim; also the end of a lease
    attempts    INTEGER NOT NULL DEFAULT 0,
    lease       TEXT,                      -- unguessable token of the consumer that claimed it
    worker      TEXT,                      -- name of the consumer that claimed it
    note        TEXT,                      -- reason for the last retry
    done_ms     INTEGER
  );
  CREATE INDEX work_due ON work (priority, id) WHERE done_ms IS NULL;
  CREATE INDEX work_done ON work (done_ms) WHERE done_ms IS NOT NULL;

  -- Approval requests for one exact command, and their decisions.
  CREATE TABLE approvals (
    id          TEXT PRIMARY KEY,          -- UUIDv7: in order of creation
    agent       TEXT NOT NULL,
    status      TEXT NOT NULL,             -- pending, approved, denied, expired, used
    created_ms  INTEGER NOT NULL,
    expires_ms  INTEGER NOT NULL,
    fingerprint TEXT NOT NULL,             -- hash of the binding, to find an open approval for the same command
    request     TEXT NOT NULL,             -- JSON: what is shown to the approver
    binding     TEXT NOT NULL,             -- JSON: exactly what the approval covers (invariant 2)
    origin      TEXT NOT NULL,             -- the pid namespace of the requester (invariant 7)
    quorum      TEXT NOT NULL,             -- JSON: { rule, approvers }
    decisions   TEXT NOT NULL DEFAULT '[]',-- JSON: who, what, when, through which channel, why
    decided_ms  INTEGER,
    session     TEXT                       -- the session it was used for
  ) WITHOUT ROWID;
  CREATE INDEX approvals_open ON approvals (agent, fingerprint) WHERE status IN ('pending', 'approved');
  CREATE INDEX approvals_due ON approvals (expires_ms) WHERE status IN ('pending', 'approved');
  CREATE INDEX approvals_status ON approvals (status, id);

  -- When an entry of the configured allowlist was last used.
  CREATE TABLE allowlist_use (
    pattern      TEXT PRIMARY KEY,
    last_used_ms INTEGER NOT NULL
  ) WITHOUT ROWID;

  -- Standing grants.
  CREATE TABLE grants (
    id          TEXT PRIMARY KEY,
    agent       TEXT NOT NULL,
    executable  TEXT NOT NULL,             -- resolved path
    identity    TEXT NOT NULL,             -- identity of the program file: another file at that path is not granted
    args        TEXT NOT NULL,             -- JSON: exact arguments or patterns
    cwd         TEXT NOT NULL,             -- without symbolic links
    piped       INTEGER NOT NULL,
    approval    TEXT,                      -- the approval that created it
    created_ms  INTEGER NOT NULL,
    created_by  TEXT NOT NULL,
    expires_ms  INTEGER,
    last_used_ms INTEGER,
    revoked_ms  INTEGER,
    change      INTEGER NOT NULL           -- number of the last creation or revocation, to invalidate caches
  ) WITHOUT ROWID;
  CREATE UNIQUE INDEX grants_change ON grants (change);
  `,
  `
  -- Bearer tokens. Only hashes are stored: reading this file does not reveal a usable token.
  CREATE TABLE tokens (
    id           TEXT PRIMARY KEY,         -- UUIDv7: in order of creation
    name         TEXT NOT NULL UNIQUE,
    role         TEXT NOT NULL,
    agent        TEXT NOT NULL,            -- the agent it acts for
    hash         TEXT NOT NULL UNIQUE,     -- SHA-256
    created_ms   INTEGER NOT NULL,
    created_by   TEXT NOT NULL,
    expires_ms   INTEGER,
    last_used_ms INTEGER,
    revoked_ms   INTEGER
  ) WITHOUT ROWID;
  `,
  `
  ALTER TABLE sessions ADD COLUMN limits TEXT; -- JSON: limits of the process tree; NULL in rows from before this migration
  `,
  `
  -- Changes that are not in the audit log, for followers. A trigger deletes old rows.
  CREATE TABLE changes (
    seq    INTEGER PRIMARY KEY,
    what   TEXT NOT NULL,                  -- session, removed, approval
    id     TEXT NOT NULL,
    agent  TEXT NOT NULL
  );
  CREATE TRIGGER changes_kept_short AFTER INSERT ON changes BEGIN
    DELETE FROM changes WHERE seq <= new.seq - 20000;
  END;
  -- Starts and ends are in the audit log. No trigger below fires for an ordinary foreground command.
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
  -- One-time sign-in links. A used link is deleted.
  CREATE TABLE sign_in_links (
    hash         TEXT PRIMARY KEY,         -- SHA-256 of the secret in the link
    name         TEXT NOT NULL,
    role         TEXT NOT NULL,
    expires_ms   INTEGER NOT NULL
  ) WITHOUT ROWID;

  -- Sign-ins to the console. Only hashes, as with tokens.
  CREATE TABLE sign_ins (
    id           TEXT PRIMARY KEY,         -- UUIDv7: in order of creation
    hash         TEXT NOT NULL UNIQUE,     -- SHA-256 of the cookie's and the page's secret together
    name         TEXT NOT NULL,
    role         TEXT NOT NULL,
    agent        TEXT NOT NULL,
    token        TEXT,                     -- the token used, whose end also ends the sign-in; NULL for a link
    created_ms   INTEGER NOT NULL,
    expires_ms   INTEGER NOT NULL
  ) WITHOUT ROWID;
  `,
  `
  ALTER TABLE sessions ADD COLUMN host TEXT; -- the machine it runs or ran on, if not this one
  `,
  `
  ALTER TABLE sessions ADD COLUMN asked_by TEXT; -- JSON: the gateway of a fleet that requested it, if any
  `,
  `
  -- Names of agents are stored in lower case. The audit log is not changed, because its entries are hashed.
  UPDATE sessions SET agent = lower(agent) WHERE agent <> lower(agent);
  UPDATE approvals SET agent = lower(agent) WHERE agent <> lower(agent);
  UPDATE grants SET agent = lower(agent) WHERE agent <> lower(agent);
  UPDATE tokens SET agent = lower(agent) WHERE agent <> lower(agent);
  UPDATE sign_ins SET agent = lower(agent) WHERE agent <> lower(agent);
  `,
  `
  -- Whether the agent was told that its request was denied or has expired.
  ALTER TABLE approvals ADD COLUMN told INTEGER NOT NULL DEFAULT 0;
  -- A session that waits for an approval ends with it, or becomes the session that runs.
  CREATE TRIGGER session_no_longer_pending AFTER UPDATE OF status ON sessions WHEN old.status = 'pending' BEGIN
    INSERT INTO changes (what, id, agent) VALUES ('session', new.id, new.agent);
  END;
  -- Earlier versions did not end these sessions.
  UPDATE sessions SET status = 'denied', error = '{"type":"CommandDenied","message":"Denied: the approval request has ended.","recovery":[]}'
    WHERE status = 'pending';
  `,
  `
  -- Set while a call that a command outlasted can be repeated to get the result: a hash of its arguments.
  ALTER TABLE sessions ADD COLUMN call TEXT;
  CREATE INDEX sessions_call ON sessions (agent, call) WHERE call IS NOT NULL;
  `,
  `
  -- How far ahead a deadline was set, in ms. A deadline further ahead than that was set before the clock was set back.
  ALTER TABLE work ADD COLUMN lasts_ms INTEGER NOT NULL DEFAULT 0;
  UPDATE work SET lasts_ms = max(0, due_ms - created_ms);
  ALTER TABLE approvals ADD COLUMN lasts_ms INTEGER NOT NULL DEFAULT 0;
  UPDATE approvals SET lasts_ms = max(0, expires_ms - coalesce(decided_ms, created_ms));
  ALTER TABLE grants ADD COLUMN lasts_ms INTEGER; -- NULL if it does not expire
  UPDATE grants SET lasts_ms = expires_ms - created_ms;
  ALTER TABLE tokens ADD COLUMN lasts_ms INTEGER; -- NULL if it does not expire
  UPDATE tokens SET lasts_ms = expires_ms - created_ms;
  ALTER TABLE sign_ins ADD COLUMN lasts_ms INTEGER NOT NULL DEFAULT 0;
  UPDATE sign_ins SET lasts_ms = expires_ms - created_ms;
  ALTER TABLE sign_in_links ADD COLUMN lasts_ms INTEGER NOT NULL DEFAULT 0;
  UPDATE sign_in_links SET lasts_ms = expires_ms; -- when it was set is not known
  `,
  `
  -- The start of the machine (boot ID) in which the state folder was last opened.
  CREATE TABLE machine (
    id    INTEGER PRIMARY KEY CHECK (id = 1),
    boot  TEXT NOT NULL
  );
  INSERT INTO machine VALUES (1, '');

  -- Gateways that acknowledge work before it is on the disk, from when they are opened until they are closed.
  CREATE TABLE open_gateways (
    id    TEXT PRIMARY KEY,
    boot  TEXT NOT NULL,
    pid   INTEGER NOT NULL
  ) WITHOUT ROWID;
  `,
];
