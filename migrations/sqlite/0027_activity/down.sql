DROP TRIGGER tr_sessions__state;
CREATE TRIGGER tr_sessions__state
AFTER UPDATE ON sessions
BEGIN
    UPDATE facts_state SET state = random();
END;

ALTER TABLE sessions DROP COLUMN user_agent;
ALTER TABLE sessions DROP COLUMN client_address;
ALTER TABLE sessions DROP COLUMN last_used_at;
ALTER TABLE sessions DROP COLUMN started_at;
DROP TABLE activity;
