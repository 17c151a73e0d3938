-- The log of attempts, reasons of disabled webhooks, replaced secrets, and an index of the queue by webhook.

-- The rowid is the number, so new rows are at the end. Only one index, because every delivery writes here.
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

-- Deleted webhooks with attempts that are not deleted yet.
CREATE TABLE former_webhooks (
    id TEXT NOT NULL PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- `failing_since` is the time of the first failure after the last success. Replaced secrets are a list in one value, because
-- every batch of sends reads it. `retiring_until` is the end of the first of these secrets.
ALTER TABLE webhooks ADD COLUMN disabled_reason TEXT CHECK (disabled_reason IN ('failing', 'gone'));
ALTER TABLE webhooks ADD COLUMN failing_since INTEGER;
ALTER TABLE webhooks ADD COLUMN retiring BLOB;
ALTER TABLE webhooks ADD COLUMN retiring_until INTEGER;
CREATE INDEX ix_webhooks__retiring_until ON webhooks (retiring_until)
    WHERE retiring_until IS NOT NULL;

-- The first index has the waiting deliveries, the second the failed ones: together they have all deliveries of a webhook.
-- A reader finds the next webhook in one step, independent of the number of deliveries.
DROP INDEX ix_deliveries__webhook_id;
CREATE INDEX ix_deliveries__webhook_id__due_at ON deliveries (webhook_id, due_at)
    WHERE due_at IS NOT NULL;
ALTER TABLE deliveries ADD COLUMN failed_at INTEGER;
UPDATE deliveries SET failed_at = coalesce(
    (SELECT e.created_at FROM envelopes AS e WHERE e.id = deliveries.envelope_id), 0
) WHERE last_failure IS NOT NULL OR due_at IS NULL;
CREATE INDEX ix_deliveries__webhook_id__failed_at ON deliveries (webhook_id, failed_at)
    WHERE failed_at IS NOT NULL;
