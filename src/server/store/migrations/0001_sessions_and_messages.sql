-- Times are milliseconds since 1970 in UTC. Truth values are 0 and 1.

CREATE TABLE sessions (
    session_id              TEXT    NOT NULL PRIMARY KEY,
    title                   TEXT    NOT NULL,
    agent                   TEXT    NOT NULL,
    workspace               TEXT    NOT NULL,
    parent_session_id       TEXT,
    relation                TEXT,
    snapshot                INTEGER NOT NULL DEFAULT 0,
    continuation_session_id TEXT,
    lineage_root_id         TEXT    NOT NULL,
    segment                 INTEGER NOT NULL DEFAULT 1,
    failed                  INTEGER NOT NULL DEFAULT 0,
    milestone               TEXT,
    preview                 TEXT    NOT NULL DEFAULT '',
    message_count           INTEGER NOT NULL DEFAULT 0,
    pinned                  INTEGER NOT NULL DEFAULT 0,
    archived                INTEGER NOT NULL DEFAULT 0,
    created_at              BIGINT  NOT NULL,
    last_activity_at        BIGINT  NOT NULL
);

CREATE INDEX sessions_by_parent ON sessions (parent_session_id);
CREATE INDEX sessions_by_lineage ON sessions (lineage_root_id, segment);
CREATE INDEX sessions_by_activity
    ON sessions (last_activity_at DESC, created_at DESC, session_id DESC);
CREATE INDEX sessions_visible_by_activity
    ON sessions (snapshot, archived, last_activity_at DESC, created_at DESC, session_id DESC);

CREATE TABLE messages (
    message_id TEXT    NOT NULL PRIMARY KEY,
    session_id TEXT    NOT NULL REFERENCES sessions (session_id) ON DELETE CASCADE,
    position   BIGINT  NOT NULL,
    turn_id    TEXT,
    role       TEXT    NOT NULL,
    state      TEXT    NOT NULL,
    parts      TEXT    NOT NULL,
    usage      TEXT,
    created_at BIGINT  NOT NULL,
    ended_at   BIGINT
);

CREATE UNIQUE INDEX messages_by_position ON messages (session_id, position);
-- One press of Send makes one message, whatever is sent again.
CREATE UNIQUE INDEX messages_by_turn ON messages (turn_id) WHERE role = 'user';
CREATE INDEX messages_unfinished ON messages (state) WHERE state = 'streaming';
