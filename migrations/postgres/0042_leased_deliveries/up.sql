-- Most deliveries are stored with a lease, and are deleted after their first attempt. While an open snapshot keeps the
-- deleted rows, a claim must not read their index entries. Claims therefore search an index that has only deliveries
-- without a lease. The ends of leases have an index of their own.
DROP INDEX ix_deliveries__due_at;
CREATE INDEX ix_deliveries__due_at ON deliveries (due_at) WHERE lease IS NULL AND due_at IS NOT NULL;
CREATE INDEX ix_deliveries__lease_end ON deliveries (due_at) WHERE lease IS NOT NULL;
CREATE INDEX ix_deliveries__webhook_id__due_at__free ON deliveries (webhook_id, due_at)
    WHERE lease IS NULL AND due_at IS NOT NULL;
INSERT INTO additive_migrations (version) VALUES ('0042');
