DROP TRIGGER tr_sessions__state;
CREATE TRIGGER tr_sessions__state
AFTER UPDATE ON sessions
BEGIN
    UPDATE facts_state SET state = random();
END;
ALTER TABLE sessions DROP COLUMN confirmed_at;
ALTER TABLE accounts DROP COLUMN recovery_code;
