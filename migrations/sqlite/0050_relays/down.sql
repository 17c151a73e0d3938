UPDATE deliveries SET lease = NULL WHERE lease = -1;
DROP INDEX ix_deliveries__webhook_id__due_at__relay;
DROP INDEX ix_deliveries__due_at__relay;
DROP INDEX ix_deliveries__lease_end;
CREATE INDEX ix_deliveries__lease_end ON deliveries (due_at) WHERE lease IS NOT NULL;
DROP TABLE relay_connections;
DROP TABLE relay_nodes;
