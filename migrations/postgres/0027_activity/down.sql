ALTER TABLE sessions
    DROP COLUMN user_agent,
    DROP COLUMN client_address,
    DROP COLUMN last_used_at,
    DROP COLUMN started_at;
DROP TABLE activity;
