CREATE TABLE attempts_anew (
    number INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    next_attempt_at INTEGER,
    attempt INTEGER NOT NULL,
    duration_ms INTEGER NOT NULL,
    status_code INTEGER,
    outcome TEXT NOT NULL CHECK (outcome IN ('exhausted', 'failed', 'succeeded')),
    error TEXT,
    webhook_id TEXT NOT NULL,
    envelope_id TEXT NOT NULL,
    excerpt TEXT
) STRICT;
INSERT INTO attempts_anew (number, at, next_attempt_at, attempt, duration_ms, status_code, outcome, error, webhook_id, envelope_id, excerpt)
    SELECT number, at, next_attempt_at, attempt, duration_ms, status_code, outcome, error, webhook_id, envelope_id, excerpt
    FROM attempts ORDER BY number;
DROP TABLE attempts;
ALTER TABLE attempts_anew RENAME TO attempts;
CREATE INDEX ix_attempts__webhook_id__outcome__number ON attempts (webhook_id, outcome, number);
