-- Decisions and audit trail of operators, idempotency keys of sends, and leases of housekeeping tasks.

-- The operators that changed the status of a decision.
ALTER TABLE governance ADD COLUMN by TEXT NOT NULL DEFAULT 'unknown';

CREATE INDEX ix_accounts__partner_id ON accounts (partner_id) WHERE partner_id IS NOT NULL;
CREATE INDEX ix_sessions__expires_at ON sessions (expires_at);

CREATE TABLE audit_entries (
    number BIGINT PRIMARY KEY,
    at BIGINT NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    subject TEXT NOT NULL,
    detail TEXT NOT NULL,
    previous BYTEA NOT NULL,
    hash BYTEA NOT NULL
);

-- The audit trail has no gaps, and accepts only new rows.
CREATE FUNCTION refuse_to_change_audit_entries() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit trail is only ever added to' USING ERRCODE = 'restrict_violation';
END
$$;
CREATE TRIGGER tr_audit_entries__append_only
BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_entries FOR EACH STATEMENT
EXECUTE FUNCTION refuse_to_change_audit_entries();

CREATE FUNCTION require_next_audit_number() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.number <> (SELECT coalesce(max(number), 0) + 1 FROM audit_entries) THEN
        RAISE EXCEPTION 'the audit trail has no gaps' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER tr_audit_entries__no_gaps
BEFORE INSERT ON audit_entries FOR EACH ROW
EXECUTE FUNCTION require_next_audit_number();

-- No foreign keys, because sends write here. A row without its envelope has no effect.
CREATE TABLE remembered (
    api_key_id TEXT COLLATE "C" NOT NULL,
    idempotency_key TEXT COLLATE "C" NOT NULL,
    fingerprint BYTEA NOT NULL,
    envelope_id TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (api_key_id, idempotency_key)
);
CREATE INDEX ix_remembered__created_at ON remembered (created_at);

CREATE TABLE overages (
    api_key_id TEXT COLLATE "C" NOT NULL REFERENCES api_keys (id) DEFERRABLE INITIALLY DEFERRED,
    month BIGINT NOT NULL,
    messages BIGINT NOT NULL,
    PRIMARY KEY (api_key_id, month)
) WITH (fillfactor = 50);

-- The node that runs a housekeeping task, and the end of its lease.
CREATE TABLE chores (
    name TEXT COLLATE "C" PRIMARY KEY,
    node BIGINT NOT NULL,
    until BIGINT NOT NULL
);
