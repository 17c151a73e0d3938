ALTER TABLE webhooks DROP COLUMN last_failure_detail;
DELETE FROM additive_migrations WHERE version = '0038';
