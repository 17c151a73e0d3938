UPDATE envelopes SET hash = sha256(sealed) WHERE hash IS NULL;
ALTER TABLE envelopes ALTER COLUMN hash SET NOT NULL;
DELETE FROM additive_migrations WHERE version = '0036';
