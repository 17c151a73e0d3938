ALTER TABLE sessions DROP COLUMN confirmed_at;
ALTER TABLE accounts DROP COLUMN recovery_code;
