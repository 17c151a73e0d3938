-- Invites open accounts while sign-up needs an invite. Only the hash of the secret is stored.
CREATE TABLE invites (
    id TEXT COLLATE "C" PRIMARY KEY,
    secret BYTEA NOT NULL UNIQUE,
    note TEXT,
    uses BIGINT NOT NULL,
    used BIGINT NOT NULL CHECK (used BETWEEN 0 AND uses),
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    revoked_at BIGINT
);
