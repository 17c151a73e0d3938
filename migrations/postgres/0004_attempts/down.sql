DROP INDEX ix_deliveries__webhook_id__failed_at;
ALTER TABLE deliveries DROP COLUMN failed_at;
DROP INDEX ix_deliveries__webhook_id__due_at;
CREATE INDEX ix_deliveries__webhook_id ON deliveries (webhook_id);
DROP INDEX ix_webhooks__retiring_until;
ALTER TABLE webhooks
    DROP COLUMN retiring_until,
    DROP COLUMN retiring,
    DROP COLUMN failing_since,
    DROP COLUMN disabled_reason;
DROP TABLE former_webhooks;
DROP TABLE attempts;
