-- A deleted conversation can be brought back for a while; nothing shows it meanwhile.
ALTER TABLE sessions ADD COLUMN deleted_at BIGINT;
-- Something happened that a person has not looked at yet.
ALTER TABLE sessions ADD COLUMN unread INTEGER NOT NULL DEFAULT 0;
-- What a person set for the agent, as a JSON object of names and values.
ALTER TABLE sessions ADD COLUMN options TEXT NOT NULL DEFAULT '{}';
-- The message was written by recovery, from the journal.
ALTER TABLE messages ADD COLUMN recovered INTEGER NOT NULL DEFAULT 0;

DROP INDEX sessions_by_activity;
DROP INDEX sessions_visible_by_activity;
CREATE INDEX sessions_by_activity
    ON sessions (last_activity_at DESC, created_at DESC, session_id DESC)
    WHERE deleted_at IS NULL;
CREATE INDEX sessions_visible_by_activity
    ON sessions (snapshot, archived, last_activity_at DESC, created_at DESC, session_id DESC)
    WHERE deleted_at IS NULL;
CREATE INDEX sessions_deleted ON sessions (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX messages_answer_of_turn ON messages (turn_id) WHERE role = 'assistant';

-- What can be found by its words: the title of each session (message_id '') and its messages.
CREATE TABLE search_entries (
    entry_id   INTEGER NOT NULL PRIMARY KEY,
    session_id TEXT    NOT NULL REFERENCES sessions (session_id) ON DELETE CASCADE,
    message_id TEXT    NOT NULL
);
CREATE UNIQUE INDEX search_entries_by_message ON search_entries (session_id, message_id);
CREATE VIRTUAL TABLE search USING fts5 (
    words,
    prefix = '2 3',
    tokenize = 'unicode61 remove_diacritics 2'
);
CREATE TRIGGER search_entries_gone AFTER DELETE ON search_entries BEGIN
    DELETE FROM search WHERE rowid = old.entry_id;
END;

CREATE TRIGGER sessions_named AFTER UPDATE OF title ON sessions
WHEN new.title <> old.title BEGIN
    DELETE FROM search_entries WHERE session_id = new.session_id AND message_id = '';
    INSERT INTO search_entries (session_id, message_id) VALUES (new.session_id, '');
    INSERT INTO search (rowid, words) VALUES (last_insert_rowid(), new.title);
END;
CREATE TRIGGER sessions_made AFTER INSERT ON sessions WHEN new.title <> '' BEGIN
    INSERT INTO search_entries (session_id, message_id) VALUES (new.session_id, '');
    INSERT INTO search (rowid, words) VALUES (last_insert_rowid(), new.title);
END;
