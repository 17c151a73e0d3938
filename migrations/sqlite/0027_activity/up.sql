-- Acts on an account, for its owner. Ids begin with the time, so housekeeping needs no further index.
CREATE TABLE activity (
    id TEXT NOT NULL PRIMARY KEY,
    account_id TEXT NOT NULL,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    actor TEXT NOT NULL,
    client_address TEXT,
    detail TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX ix_activity__account_id__id ON activity (account_id, id);
CREATE INDEX ix_activity__account_id__kind__id ON activity (account_id, kind, id);

ALTER TABLE sessions ADD COLUMN started_at INTEGER;
ALTER TABLE sessions ADD COLUMN last_used_at INTEGER;
ALTER TABLE sessions ADD COLUMN client_address TEXT;
ALTER TABLE sessions ADD COLUMN user_agent TEXT;

-- The time of the last use is not a fact of sends.
DROP TRIGGER tr_sessions__state;
CREATE TRIGGER tr_sessions__state
AFTER UPDATE OF token, account_id, expires_at ON sessions
BEGIN
    UPDATE facts_state SET state = random();
END;
