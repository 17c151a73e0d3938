-- Acts on an account, for its owner. Ids begin with the time, so housekeeping needs no further index. No foreign keys: an
-- insert must not wait for a lock on the account.
CREATE TABLE activity (
    id TEXT COLLATE "C" PRIMARY KEY,
    account_id TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    actor TEXT COLLATE "C" NOT NULL,
    client_address TEXT COLLATE "C",
    detail TEXT
);
CREATE INDEX ix_activity__account_id__id ON activity (account_id, id);
CREATE INDEX ix_activity__account_id__kind__id ON activity (account_id, kind, id);

-- Sessions of nodes of the previous version have no such values.
ALTER TABLE sessions
    ADD COLUMN started_at BIGINT,
    ADD COLUMN last_used_at BIGINT,
    ADD COLUMN client_address TEXT,
    ADD COLUMN user_agent TEXT;
