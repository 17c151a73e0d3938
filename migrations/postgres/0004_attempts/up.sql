-- The log of attempts, reasons of disabled webhooks, replaced secrets, and an index of the queue by webhook.

-- Only two indexes, because every delivery writes here: one for deletion by number, one for reading.
CREATE TABLE attempts (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at BIGINT NOT NULL,
    next_attempt_at BIGINT,
    attempt INTEGER NOT NULL,
    duration_ms INTEGER NOT NULL,
    status_code INTEGER,
    outcome TEXT COLLATE "C" NOT NULL CHECK (outcome IN ('exhausted', 'failed', 'succeeded')),
    error TEXT COLLATE "C",
    webhook_id TEXT COLLATE "C" NOT NULL,
    envelope_id TEXT COLLATE "C" NOT NULL,
    excerpt TEXT
) WITH (autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX ix_attempts__webhook_id__outcome__number ON attempts (webhook_id, outcome, number);

-- Deleted webhooks with attempts that are not deleted yet.
CREATE TABLE former_webhooks (
    id TEXT COLLATE "C" PRIMARY KEY
);

-- `failing_since` is the time of the first failure after the last success. Replaced secrets are a list in one value, because
-- every batch of sends reads it. `retiring_until` is the end of the first of these secrets.
ALTER TABLE webhooks
    ADD COLUMN disabled_reason TEXT COLLATE "C"
        CHECK (disabled_reason IN ('failing', 'gone')),
    ADD COLUMN failing_since BIGINT,
    ADD COLUMN retiring BYTEA,
    ADD COLUMN retiring_until BIGINT;
CREATE INDEX ix_webhooks__retiring_until ON webhooks (retiring_until)
    WHERE retiring_until IS NOT NULL;

-- The first index has the waiting deliveries, the second the failed ones: together they have all deliveries of a webhook.
-- A reader finds the next webhook in one step, independent of the number of deliveries.
DROP INDEX ix_deliveries__webhook_id;
CREATE INDEX ix_deliveries__webhook_id__due_at ON deliveries (webhook_id, due_at)
    WHERE due_at IS NOT NULL;
ALTER TABLE deliveries ADD COLUMN failed_at BIGINT;
UPDATE deliveries AS d SET failed_at = coalesce(
    (SELECT e.created_at FROM envelopes AS e WHERE e.id = d.envelope_id), 0
) WHERE d.last_failure IS NOT NULL OR d.due_at IS NULL;
CREATE INDEX ix_deliveries__webhook_id__failed_at ON deliveries (webhook_id, failed_at)
    WHERE failed_at IS NOT NULL;
