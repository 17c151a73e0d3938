-- What became of every attempt, why registrations are disabled, secrets that retire, and a queue that can be read by
-- target.

-- With a rowid, which is the number: rows are only ever added at the end. One index, since every delivery writes here.
CREATE TABLE attempts (
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
CREATE INDEX ix_attempts__webhook_id__outcome__number ON attempts (webhook_id, outcome, number);

-- Registrations that are gone, until their attempts are gone too.
CREATE TABLE former_webhooks (
    id TEXT NOT NULL PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- A registration is failing since the first failure after its last success. Retiring secrets are a list in one value,
-- because every batch of the send path reads it; retiring_until is when the first of them ends.
ALTER TABLE webhooks ADD COLUMN disabled_reason TEXT CHECK (disabled_reason IN ('failing', 'gone'));
ALTER TABLE webhooks ADD COLUMN failing_since INTEGER;
ALTER TABLE webhooks ADD COLUMN retiring BLOB;
ALTER TABLE webhooks ADD COLUMN retiring_until INTEGER;
CREATE INDEX ix_webhooks__retiring_until ON webhooks (retiring_until)
    WHERE retiring_until IS NOT NULL;

-- Due by target: from one target to the next is one step, however much waits for each. Every delivery is in the first
-- index while it waits, and in the second once it has failed, so that together they find all of a target.
DROP INDEX ix_deliveries__webhook_id;
CREATE INDEX ix_deliveries__webhook_id__due_at ON deliveries (webhook_id, due_at)
    WHERE due_at IS NOT NULL;
ALTER TABLE deliveries ADD COLUMN failed_at INTEGER;
UPDATE deliveries SET failed_at = coalesce(
    (SELECT e.created_at FROM envelopes AS e WHERE e.id = deliveries.envelope_id), 0
) WHERE last_failure IS NOT NULL OR due_at IS NULL;
CREATE INDEX ix_deliveries__webhook_id__failed_at ON deliveries (webhook_id, failed_at)
    WHERE failed_at IS NOT NULL;
