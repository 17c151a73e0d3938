DROP TABLE erased_handles;
DROP INDEX ix_accounts__closing;
ALTER TABLE accounts
    DROP COLUMN closing,
    DROP COLUMN erased_at,
    DROP COLUMN closed_at;
