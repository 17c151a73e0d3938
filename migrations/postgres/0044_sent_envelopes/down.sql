DELETE FROM additive_migrations WHERE version = '0044';
DROP INDEX ix_envelopes__sender__thread__created_at;
DROP INDEX ix_envelopes__sender__created_at;
ALTER TABLE envelopes DROP COLUMN message_type;
ALTER TABLE envelopes DROP COLUMN reply_to;
ALTER TABLE envelopes DROP COLUMN thread;
