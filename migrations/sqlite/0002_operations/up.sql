-- Decisions and audit trail of operators, idempotency keys of sends, and leases of housekeeping tasks.

-- The operators that changed the status of a decision.
ALTER TABLE governance ADD COLUMN "by" TEXT NOT NULL DEFAULT 'unknown';

CREATE INDEX ix_accounts__partner_id ON accounts (partner_id) WHERE partner_id IS NOT NULL;
CREATE INDEX ix_sessions__expires_at ON sessions (expires_at);

CREATE TABLE audit_entries (
    number INTEGER NOT NULL PRIMARY KEY,
    at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    subject TEXT NOT NULL,
    detail TEXT NOT NULL,
    previous BLOB NOT NULL,
    hash BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- The audit trail has no gaps, and accepts only new rows. The last trigger also rejects INSERT OR REPLACE, which deletes
-- rows without firing the other triggers.
CREATE TRIGGER tr_audit_entries__no_update
BEFORE UPDATE ON audit_entries FOR EACH ROW
BEGIN
    SELECT RAISE(ABORT, 'the audit trail is only ever added to');
END;
CREATE TRIGGER tr_audit_entries__no_delete
BEFORE DELETE ON audit_entries FOR EACH ROW
BEGIN
    SELECT RAISE(ABORT, 'the audit trail is only ever added to');
END;
CREATE TRIGGER tr_audit_entries__no_gaps
BEFORE INSERT ON audit_entries FOR EACH ROW
WHEN NEW.number <> (SELECT coalesce(max(number), 0) + 1 FROM audit_entries)
BEGIN
    SELECT RAISE(ABORT, 'the audit trail has no gaps');
END;

-- No foreign keys, because sends write here. A row without its envelope has no effect.
CREATE TABLE remembered (
    api_key_id TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    fingerprint BLOB NOT NULL,
    envelope_id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (api_key_id, idempotency_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX ix_remembered__created_at ON remembered (created_at);

CREATE TABLE overages (
    api_key_id TEXT NOT NULL REFERENCES api_keys (id) DEFERRABLE INITIALLY DEFERRED,
    month INTEGER NOT NULL,
    messages INTEGER NOT NULL,
    PRIMARY KEY (api_key_id, month)
) STRICT, WITHOUT ROWID;

-- The node that runs a housekeeping task, and the end of its lease.
CREATE TABLE chores (
    name TEXT NOT NULL PRIMARY KEY,
    node INTEGER NOT NULL,
    until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
