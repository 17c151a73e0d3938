DELETE FROM additive_migrations WHERE version = '0045';
DELETE FROM idempotency_keys WHERE results IS NOT NULL;
ALTER TABLE idempotency_keys DROP COLUMN results;
ALTER TABLE idempotency_keys DROP COLUMN state;
