-- Devices that are signed in. Of their secrets only the hashes are kept.
CREATE TABLE devices (
    device_id    TEXT   NOT NULL PRIMARY KEY,
    secret_hash  TEXT   NOT NULL UNIQUE,
    name         TEXT   NOT NULL,
    created_at   BIGINT NOT NULL,
    last_seen_at BIGINT NOT NULL
);

-- Codes that sign one device in, once, until they expire.
CREATE TABLE pairings (
    code_hash  TEXT   NOT NULL PRIMARY KEY,
    expires_at BIGINT NOT NULL
);
