DELETE FROM additive_migrations WHERE version = '0042';
DROP INDEX ix_deliveries__webhook_id__due_at__free;
DROP INDEX ix_deliveries__lease_end;
DROP INDEX ix_deliveries__due_at;
CREATE INDEX ix_deliveries__due_at ON deliveries (due_at) WHERE due_at IS NOT NULL;
