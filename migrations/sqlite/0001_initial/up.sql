-- Times are milliseconds since the Unix epoch. Ids are TypeIDs: their bytes sort by time of creation.
-- Envelopes and deliveries have no foreign keys, because every send writes them.

CREATE TABLE accounts (
    id TEXT NOT NULL PRIMARY KEY,
    login_secret BLOB NOT NULL,
    partner_id TEXT,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE sessions (
    token BLOB NOT NULL PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES accounts (id) DEFERRABLE INITIALLY DEFERRED,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX ix_sessions__account_id ON sessions (account_id);

CREATE TABLE api_keys (
    id TEXT NOT NULL PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES accounts (id) DEFERRABLE INITIALLY DEFERRED,
    label TEXT NOT NULL,
    handle TEXT,
    did TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('active', 'deactivated', 'revoked', 'rotating')),
    plan TEXT NOT NULL,
    enterprise_per_minute INTEGER,
    enterprise_per_day INTEGER,
    enterprise_per_month INTEGER,
    enterprise_per_second INTEGER,
    enterprise_allow_overage INTEGER,
    root BLOB,
    sealing_version INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    CHECK (
        plan <> 'enterprise'
        OR (
            enterprise_per_minute IS NOT NULL
            AND enterprise_per_day IS NOT NULL
            AND enterprise_per_month IS NOT NULL
            AND enterprise_per_second IS NOT NULL
            AND enterprise_allow_overage IS NOT NULL
        )
    ),
    CHECK (status <> 'revoked' OR root IS NULL)
) STRICT, WITHOUT ROWID;
CREATE INDEX ix_api_keys__account_id ON api_keys (account_id);

-- Revocation is final: the database rejects another status or a new root.
CREATE TRIGGER tr_api_keys__revoked_is_final
BEFORE UPDATE ON api_keys FOR EACH ROW
WHEN OLD.status = 'revoked' AND (NEW.status <> 'revoked' OR NEW.root IS NOT NULL)
BEGIN
    SELECT RAISE(ABORT, 'a revoked key stays revoked');
END;

CREATE TABLE handles (
    handle TEXT NOT NULL PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES accounts (id) DEFERRABLE INITIALLY DEFERRED,
    api_key_id TEXT NOT NULL REFERENCES api_keys (id) DEFERRABLE INITIALLY DEFERRED
) STRICT, WITHOUT ROWID;
CREATE INDEX ix_handles__account_id ON handles (account_id);
CREATE INDEX ix_handles__api_key_id ON handles (api_key_id);

CREATE TABLE usage (
    api_key_id TEXT NOT NULL PRIMARY KEY REFERENCES api_keys (id) DEFERRABLE INITIALLY DEFERRED,
    minute_start INTEGER NOT NULL,
    minute_used INTEGER NOT NULL,
    day_start INTEGER NOT NULL,
    day_used INTEGER NOT NULL,
    month_start INTEGER NOT NULL,
    month_used INTEGER NOT NULL,
    throughput_tat_us INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE governance (
    id TEXT NOT NULL PRIMARY KEY,
    subject TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('council_action', 'partner_suspension')),
    status TEXT NOT NULL CHECK (status IN ('enforced', 'lifted', 'proposed')),
    reason TEXT NOT NULL,
    since INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX ix_governance__subject ON governance (subject);

-- Has a rowid, unlike the other tables: long rows are cheaper in a table than inside the index of a primary key.
CREATE TABLE envelopes (
    id TEXT NOT NULL PRIMARY KEY,
    sender TEXT NOT NULL,
    recipient TEXT NOT NULL,
    suite INTEGER NOT NULL,
    hash BLOB NOT NULL,
    signature BLOB NOT NULL,
    payload_size_bytes INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    opened_at INTEGER,
    sealed BLOB NOT NULL
) STRICT;

CREATE TABLE webhooks (
    id TEXT NOT NULL PRIMARY KEY,
    api_key_id TEXT NOT NULL REFERENCES api_keys (id) DEFERRABLE INITIALLY DEFERRED,
    url TEXT NOT NULL,
    events TEXT NOT NULL,
    secret BLOB NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('disabled', 'enabled')),
    created_at INTEGER NOT NULL,
    last_success_at INTEGER,
    last_failure_at INTEGER,
    last_failure TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX ix_webhooks__api_key_id ON webhooks (api_key_id);

-- The queue of deliveries. A successful delivery deletes its row. `due_at` is the end of the lease of a leased row, and NULL
-- after the last attempt.
CREATE TABLE deliveries (
    envelope_id TEXT NOT NULL,
    webhook_id TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    due_at INTEGER,
    lease INTEGER,
    last_failure TEXT,
    PRIMARY KEY (envelope_id, webhook_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX ix_deliveries__due_at ON deliveries (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX ix_deliveries__webhook_id ON deliveries (webhook_id);

CREATE TABLE kek_marks (
    version INTEGER NOT NULL PRIMARY KEY,
    mark BLOB NOT NULL
) STRICT;
