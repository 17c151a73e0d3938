-- The service's own keys. Keys that were used for signatures are never deleted.
CREATE TABLE issuer_keys (
    id TEXT NOT NULL PRIMARY KEY,
    public_key BLOB NOT NULL,
    secret BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    signs_from INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
