-- The service's own keys: every one that ever signed stays.
CREATE TABLE issuer_keys (
    id TEXT COLLATE "C" PRIMARY KEY,
    public_key BYTEA NOT NULL,
    secret BYTEA NOT NULL,
    created_at BIGINT NOT NULL,
    signs_from BIGINT NOT NULL
);
