-- A number is never used twice, even after the newest attempt was deleted. The daily counts include all attempts up to a
-- number, so new attempts must have higher numbers.
CREATE TABLE attempts_anew (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
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
DELETE FROM sqlite_sequence WHERE name = 'attempts';
INSERT INTO sqlite_sequence (name, seq) SELECT 'attempts', max(
    coalesce((SELECT max(number) FROM attempts), 0),
    coalesce((SELECT CAST(up_to AS INTEGER) FROM counted WHERE what = 'attempts'), 0)
);
