DROP INDEX ix_deliveries__webhook_id__failed_at;
ALTER TABLE deliveries DROP COLUMN failed_at;
DROP INDEX ix_deliveries__webhook_id__due_at;
CREATE INDEX ix_deliveries__webhook_id ON deliveries (webhook_id);
ALTER TABLE deliveries DROP CONSTRAINT deliveries_pkey;
ALTER TABLE deliveries ADD PRIMARY KEY (envelope_id, webhook_id);
DROP INDEX ix_webhooks__retiring_until;
ALTER TABLE webhooks
    DROP COLUMN retiring_until,
    DROP COLUMN retiring,
    DROP COLUMN failing_since,
    DROP COLUMN disabled_reason;
DROP TABLE former_webhooks;
DROP TABLE attempts;
