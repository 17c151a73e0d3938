-- The hash of the recovery code. Accounts of earlier versions have none until their login secret is replaced.
ALTER TABLE accounts ADD COLUMN recovery_code BLOB;

-- The last time that the login secret was given in the session.
ALTER TABLE sessions ADD COLUMN confirmed_at INTEGER;

-- The time of a confirmation is no fact of sends.
DROP TRIGGER tr_sessions__state;
CREATE TRIGGER tr_sessions__state
AFTER UPDATE OF token, account_id, expires_at ON sessions
BEGIN
    UPDATE facts_state SET state = random();
END;
