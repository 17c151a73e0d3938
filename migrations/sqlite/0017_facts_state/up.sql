-- The state of all facts of sends. Every change of a fact replaces the state. A batch whose cached facts have the same
-- state reads one row instead of the versions, the sessions and the open decisions of its keys.
CREATE TABLE facts_state (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    state INTEGER NOT NULL
) STRICT;
INSERT INTO facts_state (id, state) VALUES (1, random());

-- Keys, handles and webhooks: their triggers replace the version of the key.
CREATE TRIGGER tr_facts_versions__state_new
AFTER INSERT ON facts_versions
BEGIN
    UPDATE facts_state SET state = random();
END;

CREATE TRIGGER tr_facts_versions__state
AFTER UPDATE ON facts_versions
BEGIN
    UPDATE facts_state SET state = random();
END;

CREATE TRIGGER tr_facts_versions__state_gone
AFTER DELETE ON facts_versions
BEGIN
    UPDATE facts_state SET state = random();
END;

-- A new session changes nothing: sessions without a row are not cached.
CREATE TRIGGER tr_sessions__state
AFTER UPDATE ON sessions
BEGIN
    UPDATE facts_state SET state = random();
END;

CREATE TRIGGER tr_sessions__state_gone
AFTER DELETE ON sessions
BEGIN
    UPDATE facts_state SET state = random();
END;

CREATE TRIGGER tr_governance__state_new
AFTER INSERT ON governance
BEGIN
    UPDATE facts_state SET state = random();
END;

CREATE TRIGGER tr_governance__state
AFTER UPDATE ON governance
BEGIN
    UPDATE facts_state SET state = random();
END;

CREATE TRIGGER tr_governance__state_gone
AFTER DELETE ON governance
BEGIN
    UPDATE facts_state SET state = random();
END;

-- A decision on a partner concerns all keys of its accounts.
CREATE TRIGGER tr_accounts__state
AFTER UPDATE OF partner_id ON accounts
BEGIN
    UPDATE facts_state SET state = random();
END;
