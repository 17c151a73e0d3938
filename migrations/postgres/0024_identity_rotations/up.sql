-- Changes of keys whose correspondents are not all informed yet. Housekeeping reads the stored envelopes from the newest
-- to the oldest to find them; `read_to` is the oldest id that was read. Deleted at the end of the reading.
CREATE TABLE identity_rotations (
    api_key_id TEXT COLLATE "C" NOT NULL,
    reason TEXT NOT NULL CHECK (reason IN ('replaced', 'revoked', 'sealing_key')),
    at BIGINT NOT NULL,
    handle TEXT,
    replaced_by TEXT COLLATE "C",
    read_to TEXT COLLATE "C",
    informed BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (api_key_id, reason, at)
);
