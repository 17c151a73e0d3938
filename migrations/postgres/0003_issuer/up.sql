-- The service's own keys. Keys that were used for signatures are never deleted.
CREATE TABLE issuer_keys (
    id TEXT COLLATE "C" PRIMARY KEY,
    public_key BYTEA NOT NULL,
    secret BYTEA NOT NULL,
    created_at BIGINT NOT NULL,
    signs_from BIGINT NOT NULL
);
