ALTER TABLE deliveries RENAME TO deliveries_by_target;
DROP INDEX ix_deliveries__due_at;
DROP INDEX ix_deliveries__webhook_id__due_at;
DROP INDEX ix_deliveries__webhook_id__failed_at;
CREATE TABLE deliveries (
    envelope_id TEXT NOT NULL,
    webhook_id TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    due_at INTEGER,
    lease INTEGER,
    last_failure TEXT,
    PRIMARY KEY (envelope_id, webhook_id)
) STRICT, WITHOUT ROWID;
INSERT INTO deliveries (envelope_id, webhook_id, attempts, due_at, lease, last_failure)
    SELECT envelope_id, webhook_id, attempts, due_at, lease, last_failure FROM deliveries_by_target;
DROP TABLE deliveries_by_target;
CREATE INDEX ix_deliveries__due_at ON deliveries (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX ix_deliveries__webhook_id ON deliveries (webhook_id);
DROP INDEX ix_webhooks__retiring_until;
ALTER TABLE webhooks DROP COLUMN retiring_until;
ALTER TABLE webhooks DROP COLUMN retiring;
ALTER TABLE webhooks DROP COLUMN failing_since;
ALTER TABLE webhooks DROP COLUMN disabled_reason;
DROP TABLE former_webhooks;
DROP TABLE attempts;
