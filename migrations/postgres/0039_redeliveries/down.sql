DELETE FROM additive_migrations WHERE version = '0039';
ALTER TABLE deliveries DROP COLUMN recover_at;
ALTER TABLE deliveries DROP COLUMN redeliver_at;
