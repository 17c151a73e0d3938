-- The hash of the recovery code. Accounts of earlier versions have none until their login secret is replaced.
ALTER TABLE accounts ADD COLUMN recovery_code BYTEA;

-- The last time that the login secret was given in the session.
ALTER TABLE sessions ADD COLUMN confirmed_at BIGINT;
