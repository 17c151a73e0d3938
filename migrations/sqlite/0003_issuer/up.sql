-- The service's own keys: every one that ever signed stays.
CREATE TABLE issuer_keys (
    id TEXT NOT NULL PRIMARY KEY,
    public_key BLOB NOT NULL,
    secret BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    signs_from INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
