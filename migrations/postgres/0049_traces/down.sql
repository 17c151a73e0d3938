DELETE FROM additive_migrations WHERE version = '0049';
ALTER TABLE envelopes DROP COLUMN trace;
