-- Which rows no other hangs on, kept with each write so that a page of them costs the page.

-- The row's edge to its parent is part of a cycle, and counts for nothing. Set at the start.
ALTER TABLE sessions ADD COLUMN cyclic INTEGER NOT NULL DEFAULT 0;
-- How many rows hide this one, and how many of these are no continuation of it.
ALTER TABLE sessions ADD COLUMN child_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN fork_count INTEGER NOT NULL DEFAULT 0;
-- No present row stands above it.
ALTER TABLE sessions ADD COLUMN top INTEGER NOT NULL DEFAULT 1;

ALTER TABLE sessions ADD COLUMN hides_parent INTEGER GENERATED ALWAYS AS (
    parent_session_id IS NOT NULL AND parent_session_id <> session_id
    AND archived = 0 AND cyclic = 0 AND deleted_at IS NULL
) VIRTUAL;
ALTER TABLE sessions ADD COLUMN hides_as_fork INTEGER GENERATED ALWAYS AS (
    hides_parent AND COALESCE(relation, '') <> 'continuation'
) VIRTUAL;
ALTER TABLE sessions ADD COLUMN is_leaf INTEGER GENERATED ALWAYS AS (
    deleted_at IS NULL AND archived = 0 AND child_count = 0
) VIRTUAL;
ALTER TABLE sessions ADD COLUMN is_fork_point INTEGER GENERATED ALWAYS AS (
    deleted_at IS NULL AND archived = 0 AND (child_count > 1 OR fork_count > 0)
) VIRTUAL;
ALTER TABLE sessions ADD COLUMN is_visible INTEGER GENERATED ALWAYS AS (
    deleted_at IS NULL AND archived = 0 AND snapshot = 0
) VIRTUAL;
ALTER TABLE sessions ADD COLUMN is_put_away INTEGER GENERATED ALWAYS AS (
    deleted_at IS NULL AND archived = 1 AND snapshot = 0
) VIRTUAL;

DROP INDEX sessions_by_parent;
CREATE INDEX sessions_by_parent ON sessions (parent_session_id, created_at, session_id);

UPDATE sessions SET
    child_count = (SELECT COUNT(*) FROM sessions AS child
        WHERE child.parent_session_id = sessions.session_id AND child.hides_parent),
    fork_count = (SELECT COUNT(*) FROM sessions AS child
        WHERE child.parent_session_id = sessions.session_id AND child.hides_as_fork),
    top = NOT EXISTS (SELECT 1 FROM sessions AS parent
        WHERE parent.session_id = sessions.parent_session_id AND parent.deleted_at IS NULL);

CREATE INDEX sessions_leaves
    ON sessions (last_activity_at DESC, created_at DESC, session_id DESC) WHERE is_leaf = 1;
CREATE INDEX sessions_fork_points
    ON sessions (last_activity_at DESC, created_at DESC, session_id DESC) WHERE is_fork_point = 1;
CREATE INDEX sessions_tops
    ON sessions (last_activity_at DESC, created_at DESC, session_id DESC)
    WHERE top = 1 AND deleted_at IS NULL;
CREATE INDEX sessions_pinned
    ON sessions (last_activity_at DESC, created_at DESC, session_id DESC)
    WHERE pinned = 1 AND is_visible = 1;

CREATE TRIGGER sessions_child_made AFTER INSERT ON sessions
WHEN new.parent_session_id IS NOT NULL BEGIN
    UPDATE sessions SET child_count = child_count + 1, fork_count = fork_count + new.hides_as_fork
        WHERE session_id = new.parent_session_id AND new.hides_parent;
    UPDATE sessions SET top = 0 WHERE session_id = new.session_id AND EXISTS (
        SELECT 1 FROM sessions AS parent
        WHERE parent.session_id = new.parent_session_id AND parent.deleted_at IS NULL);
END;
-- Rows that came before the parent they name.
CREATE TRIGGER sessions_parent_made AFTER INSERT ON sessions
WHEN EXISTS (SELECT 1 FROM sessions AS child WHERE child.parent_session_id = new.session_id) BEGIN
    UPDATE sessions SET
        child_count = (SELECT COUNT(*) FROM sessions AS child
            WHERE child.parent_session_id = new.session_id AND child.hides_parent),
        fork_count = (SELECT COUNT(*) FROM sessions AS child
            WHERE child.parent_session_id = new.session_id AND child.hides_as_fork)
        WHERE session_id = new.session_id;
    UPDATE sessions SET top = (new.deleted_at IS NOT NULL)
        WHERE parent_session_id = new.session_id AND cyclic = 0;
END;
CREATE TRIGGER sessions_child_changed
AFTER UPDATE OF parent_session_id, relation, archived, deleted_at, cyclic ON sessions BEGIN
    UPDATE sessions SET child_count = child_count - 1, fork_count = fork_count - old.hides_as_fork
        WHERE session_id = old.parent_session_id AND old.hides_parent;
    UPDATE sessions SET child_count = child_count + 1, fork_count = fork_count + new.hides_as_fork
        WHERE session_id = new.parent_session_id AND new.hides_parent;
END;
CREATE TRIGGER sessions_parent_changed AFTER UPDATE OF parent_session_id, cyclic ON sessions BEGIN
    UPDATE sessions SET top = new.cyclic = 1 OR NOT EXISTS (
        SELECT 1 FROM sessions AS parent
        WHERE parent.session_id = new.parent_session_id AND parent.deleted_at IS NULL)
        WHERE session_id = new.session_id;
END;
CREATE TRIGGER sessions_parent_marked AFTER UPDATE OF deleted_at ON sessions BEGIN
    UPDATE sessions SET top = (new.deleted_at IS NOT NULL)
        WHERE parent_session_id = new.session_id AND cyclic = 0;
END;
CREATE TRIGGER sessions_gone AFTER DELETE ON sessions BEGIN
    UPDATE sessions SET child_count = child_count - 1, fork_count = fork_count - old.hides_as_fork
        WHERE session_id = old.parent_session_id AND old.hides_parent;
    UPDATE sessions SET top = 1 WHERE parent_session_id = old.session_id;
END;

-- How many rows each view of the list has: one row, kept with each write.
CREATE TABLE session_counts (
    leaves   INTEGER NOT NULL,
    visible  INTEGER NOT NULL,
    archived INTEGER NOT NULL,
    present  INTEGER NOT NULL
);
INSERT INTO session_counts SELECT COALESCE(SUM(is_leaf), 0), COALESCE(SUM(is_visible), 0),
    COALESCE(SUM(is_put_away), 0), COALESCE(SUM(deleted_at IS NULL), 0) FROM sessions;
CREATE TRIGGER sessions_counted_in AFTER INSERT ON sessions BEGIN
    UPDATE session_counts SET leaves = leaves + new.is_leaf, visible = visible + new.is_visible,
        archived = archived + new.is_put_away, present = present + (new.deleted_at IS NULL);
END;
CREATE TRIGGER sessions_counted_anew
AFTER UPDATE OF snapshot, archived, deleted_at, child_count ON sessions BEGIN
    UPDATE session_counts SET leaves = leaves + new.is_leaf - old.is_leaf,
        visible = visible + new.is_visible - old.is_visible,
        archived = archived + new.is_put_away - old.is_put_away,
        present = present + (new.deleted_at IS NULL) - (old.deleted_at IS NULL);
END;
CREATE TRIGGER sessions_counted_out AFTER DELETE ON sessions BEGIN
    UPDATE session_counts SET leaves = leaves - old.is_leaf, visible = visible - old.is_visible,
        archived = archived - old.is_put_away, present = present - (old.deleted_at IS NULL);
END;

-- Titles are looked for apart from messages, so that a title is found however many messages hold
-- its words. Beginnings of words up to eight letters have an index of their own; without it, each
-- letter typed would cost as much as all that begins with it.
DROP TRIGGER sessions_named;
DROP TRIGGER sessions_made;
DROP TRIGGER search_entries_gone;
CREATE VIRTUAL TABLE search_titles USING fts5 (
    words,
    prefix = '1 2 3 4 5 6 7 8',
    tokenize = 'unicode61 remove_diacritics 2'
);
CREATE VIRTUAL TABLE search_messages USING fts5 (
    words,
    prefix = '1 2 3 4 5 6 7 8',
    tokenize = 'unicode61 remove_diacritics 2'
);
INSERT INTO search_titles (rowid, words) SELECT search.rowid, search.words FROM search
    JOIN search_entries AS entry ON entry.entry_id = search.rowid WHERE entry.message_id = '';
INSERT INTO search_messages (rowid, words) SELECT search.rowid, search.words FROM search
    JOIN search_entries AS entry ON entry.entry_id = search.rowid WHERE entry.message_id <> '';
DROP TABLE search;
ALTER TABLE search_messages RENAME TO search;

CREATE TRIGGER search_entries_gone AFTER DELETE ON search_entries BEGIN
    DELETE FROM search WHERE rowid = old.entry_id AND old.message_id <> '';
    DELETE FROM search_titles WHERE rowid = old.entry_id AND old.message_id = '';
END;
CREATE TRIGGER sessions_named AFTER UPDATE OF title ON sessions
WHEN new.title <> old.title BEGIN
    DELETE FROM search_entries WHERE session_id = new.session_id AND message_id = '';
    INSERT INTO search_entries (session_id, message_id) VALUES (new.session_id, '');
    INSERT INTO search_titles (rowid, words) VALUES (last_insert_rowid(), new.title);
END;
CREATE TRIGGER sessions_made AFTER INSERT ON sessions WHEN new.title <> '' BEGIN
    INSERT INTO search_entries (session_id, message_id) VALUES (new.session_id, '');
    INSERT INTO search_titles (rowid, words) VALUES (last_insert_rowid(), new.title);
END;
