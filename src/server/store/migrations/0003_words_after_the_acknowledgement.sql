-- The message is stored and not yet findable by its words.
ALTER TABLE messages ADD COLUMN unindexed INTEGER NOT NULL DEFAULT 0;
CREATE INDEX messages_unindexed ON messages (message_id) WHERE unindexed = 1;
