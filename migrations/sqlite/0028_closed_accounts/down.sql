DROP TABLE erased_handles;
DROP INDEX ix_accounts__closing;
ALTER TABLE accounts DROP COLUMN closing;
ALTER TABLE accounts DROP COLUMN erased_at;
ALTER TABLE accounts DROP COLUMN closed_at;
