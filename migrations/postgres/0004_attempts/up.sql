-- What became of every attempt, why registrations are disabled, secrets that retire, and a queue that can be read by
-- target.

-- Two indexes, since every delivery writes here: the number to purge by, and the other to read by.
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

-- Registrations that are gone, until their attempts are gone too.
CREATE TABLE former_webhooks (
    id TEXT COLLATE "C" PRIMARY KEY
);

-- A registration is failing since the first failure after its last success. Retiring secrets are a list in one value,
-- because every batch of the send path reads it; retiring_until is when the first of them ends.
ALTER TABLE webhooks
    ADD COLUMN disabled_reason TEXT COLLATE "C"
        CHECK (disabled_reason IN ('failing', 'gone')),
    ADD COLUMN failing_since BIGINT,
    ADD COLUMN retiring BYTEA,
    ADD COLUMN retiring_until BIGINT;
CREATE INDEX ix_webhooks__retiring_until ON webhooks (retiring_until)
    WHERE retiring_until IS NOT NULL;

-- Due by target: from one target to the next is one step, however much waits for each. Every delivery is in the first
-- index while it waits, and in the second once it has failed, so that together they find all of a target.
DROP INDEX ix_deliveries__webhook_id;
CREATE INDEX ix_deliveries__webhook_id__due_at ON deliveries (webhook_id, due_at)
    WHERE due_at IS NOT NULL;
ALTER TABLE deliveries ADD COLUMN failed_at BIGINT;
UPDATE deliveries AS d SET failed_at = coalesce(
    (SELECT e.created_at FROM envelopes AS e WHERE e.id = d.envelope_id), 0
) WHERE d.last_failure IS NOT NULL OR d.due_at IS NULL;
CREATE INDEX ix_deliveries__webhook_id__failed_at ON deliveries (webhook_id, failed_at)
    WHERE failed_at IS NOT NULL;
