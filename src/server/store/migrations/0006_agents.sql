-- The agent's own name for the conversation; ours stays the key of everything.
ALTER TABLE sessions ADD COLUMN agent_session TEXT;
-- A person named the conversation, so an agent must not name it anew.
ALTER TABLE sessions ADD COLUMN named INTEGER NOT NULL DEFAULT 0;
