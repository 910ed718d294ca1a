-- The sender took the prompt back. The row stays, hidden, so that a late copy of the turn is known.
ALTER TABLE messages ADD COLUMN withdrawn INTEGER NOT NULL DEFAULT 0;
