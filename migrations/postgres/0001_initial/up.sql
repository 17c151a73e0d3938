-- Times are milliseconds since the Unix epoch. Ids are TypeIDs: their bytes sort by time of creation.
-- Envelopes and deliveries have no foreign keys, because every send writes them.

CREATE TABLE accounts (
    id TEXT COLLATE "C" PRIMARY KEY,
    login_secret BYTEA NOT NULL,
    partner_id TEXT COLLATE "C",
    created_at BIGINT NOT NULL
);

CREATE TABLE sessions (
    token BYTEA PRIMARY KEY,
    account_id TEXT COLLATE "C" NOT NULL REFERENCES accounts (id) DEFERRABLE INITIALLY DEFERRED,
    expires_at BIGINT NOT NULL
);
CREATE INDEX ix_sessions__account_id ON sessions (account_id);

CREATE TABLE api_keys (
    id TEXT COLLATE "C" PRIMARY KEY,
    account_id TEXT COLLATE "C" NOT NULL REFERENCES accounts (id) DEFERRABLE INITIALLY DEFERRED,
    label TEXT NOT NULL,
    handle TEXT COLLATE "C",
    did TEXT COLLATE "C" NOT NULL,
    status TEXT COLLATE "C" NOT NULL
        CHECK (status IN ('active', 'deactivated', 'revoked', 'rotating')),
    plan TEXT COLLATE "C" NOT NULL,
    enterprise_per_minute BIGINT,
    enterprise_per_day BIGINT,
    enterprise_per_month BIGINT,
    enterprise_per_second BIGINT,
    enterprise_allow_overage BOOLEAN,
    root BYTEA,
    sealing_version INTEGER NOT NULL,
    created_at BIGINT NOT NULL,
    CHECK (
        plan <> 'enterprise'
        OR num_nulls(
            enterprise_per_minute,
            enterprise_per_day,
            enterprise_per_month,
            enterprise_per_second,
            enterprise_allow_overage
        ) = 0
    ),
    CHECK (status <> 'revoked' OR root IS NULL)
);
CREATE INDEX ix_api_keys__account_id ON api_keys (account_id);

-- Revocation is final: the database rejects another status or a new root.
CREATE FUNCTION refuse_to_revive_api_key() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'a revoked key stays revoked' USING ERRCODE = 'restrict_violation';
END
$$;
CREATE TRIGGER tr_api_keys__revoked_is_final
BEFORE UPDATE ON api_keys FOR EACH ROW
WHEN (OLD.status = 'revoked' AND (NEW.status <> 'revoked' OR NEW.root IS NOT NULL))
EXECUTE FUNCTION refuse_to_revive_api_key();

CREATE TABLE handles (
    handle TEXT COLLATE "C" PRIMARY KEY,
    account_id TEXT COLLATE "C" NOT NULL REFERENCES accounts (id) DEFERRABLE INITIALLY DEFERRED,
    api_key_id TEXT COLLATE "C" NOT NULL REFERENCES api_keys (id) DEFERRABLE INITIALLY DEFERRED
);
CREATE INDEX ix_handles__account_id ON handles (account_id);
CREATE INDEX ix_handles__api_key_id ON handles (api_key_id);

-- Each batch of sends updates its rows. Half of each page stays free, so that a new row version fits beside the old one.
CREATE TABLE usage (
    api_key_id TEXT COLLATE "C" PRIMARY KEY REFERENCES api_keys (id) DEFERRABLE INITIALLY DEFERRED,
    minute_start BIGINT NOT NULL,
    minute_used BIGINT NOT NULL,
    day_start BIGINT NOT NULL,
    day_used BIGINT NOT NULL,
    month_start BIGINT NOT NULL,
    month_used BIGINT NOT NULL,
    throughput_tat_us BIGINT NOT NULL
) WITH (
    fillfactor = 50,
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_cost_delay = 0
);

CREATE TABLE governance (
    id TEXT COLLATE "C" PRIMARY KEY,
    subject TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('council_action', 'partner_suspension')),
    status TEXT COLLATE "C" NOT NULL CHECK (status IN ('enforced', 'lifted', 'proposed')),
    reason TEXT NOT NULL,
    since BIGINT NOT NULL
);
CREATE INDEX ix_governance__subject ON governance (subject);

CREATE TABLE envelopes (
    id TEXT COLLATE "C" PRIMARY KEY,
    sender TEXT COLLATE "C" NOT NULL,
    recipient TEXT COLLATE "C" NOT NULL,
    suite SMALLINT NOT NULL,
    hash BYTEA NOT NULL,
    signature BYTEA NOT NULL,
    sealed BYTEA NOT NULL,
    payload_size_bytes BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    opened_at BIGINT
);
-- Ciphertext does not compress, so PostgreSQL must not try.
ALTER TABLE envelopes ALTER COLUMN sealed SET STORAGE EXTERNAL;

CREATE TABLE webhooks (
    id TEXT COLLATE "C" PRIMARY KEY,
    api_key_id TEXT COLLATE "C" NOT NULL REFERENCES api_keys (id) DEFERRABLE INITIALLY DEFERRED,
    url TEXT NOT NULL,
    events TEXT COLLATE "C" NOT NULL,
    secret BYTEA NOT NULL,
    status TEXT COLLATE "C" NOT NULL CHECK (status IN ('disabled', 'enabled')),
    created_at BIGINT NOT NULL,
    last_success_at BIGINT,
    last_failure_at BIGINT,
    last_failure TEXT COLLATE "C"
) WITH (fillfactor = 70);
CREATE INDEX ix_webhooks__api_key_id ON webhooks (api_key_id);

-- The queue of deliveries. A successful delivery deletes its row. `due_at` is the end of the lease of a leased row, and NULL
-- after the last attempt.
CREATE TABLE deliveries (
    envelope_id TEXT COLLATE "C" NOT NULL,
    webhook_id TEXT COLLATE "C" NOT NULL,
    attempts INTEGER NOT NULL,
    due_at BIGINT,
    lease BIGINT,
    last_failure TEXT COLLATE "C",
    PRIMARY KEY (envelope_id, webhook_id)
) WITH (
    fillfactor = 70,
    autovacuum_vacuum_threshold = 1000,
    autovacuum_vacuum_scale_factor = 0.01,
    autovacuum_vacuum_cost_delay = 0,
    autovacuum_analyze_scale_factor = 0.05
);
CREATE INDEX ix_deliveries__due_at ON deliveries (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX ix_deliveries__webhook_id ON deliveries (webhook_id);

CREATE TABLE kek_marks (
    version BIGINT PRIMARY KEY,
    mark BYTEA NOT NULL
);
