-- Invites open accounts while sign-up needs an invite. Only the hash of the secret is stored.
CREATE TABLE invites (
    id TEXT PRIMARY KEY,
    secret BLOB NOT NULL UNIQUE,
    note TEXT,
    uses INTEGER NOT NULL,
    used INTEGER NOT NULL CHECK (used BETWEEN 0 AND uses),
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    revoked_at INTEGER
) STRICT, WITHOUT ROWID;
