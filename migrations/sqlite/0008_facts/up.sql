-- The facts of sends change rarely, and are read by every batch. The stamp is their version. Each change replaces it by a
-- random stamp, so that no two states share one, even after a crash or a restored backup. SQLite has one writer, so there
-- is no lock.

CREATE TABLE facts_stamp (
    id INTEGER PRIMARY KEY DEFAULT 1 CHECK (id = 1),
    stamp TEXT NOT NULL
) STRICT;
INSERT INTO facts_stamp (stamp) VALUES (hex(randomblob(16)));

-- New keys, handles and sessions change no fact. New webhooks and decisions change the facts of an existing key.
CREATE TRIGGER tr_accounts__facts
AFTER UPDATE OF partner_id ON accounts
BEGIN
    UPDATE facts_stamp SET stamp = hex(randomblob(16));
END;

CREATE TRIGGER tr_api_keys__facts
AFTER UPDATE ON api_keys
WHEN (
    OLD.account_id, OLD.status, OLD.plan, OLD.enterprise_per_minute, OLD.enterprise_per_day,
    OLD.enterprise_per_month, OLD.enterprise_per_second, OLD.enterprise_allow_overage,
    OLD.sealing_version
) IS NOT (
    NEW.account_id, NEW.status, NEW.plan, NEW.enterprise_per_minute, NEW.enterprise_per_day,
    NEW.enterprise_per_month, NEW.enterprise_per_second, NEW.enterprise_allow_overage,
    NEW.sealing_version
)
BEGIN
    UPDATE facts_stamp SET stamp = hex(randomblob(16));
END;

CREATE TRIGGER tr_accounts__facts_gone
AFTER DELETE ON accounts
BEGIN
    UPDATE facts_stamp SET stamp = hex(randomblob(16));
END;

CREATE TRIGGER tr_api_keys__facts_gone
AFTER DELETE ON api_keys
BEGIN
    UPDATE facts_stamp SET stamp = hex(randomblob(16));
END;

CREATE TRIGGER tr_handles__facts
AFTER UPDATE ON handles
BEGIN
    UPDATE facts_stamp SET stamp = hex(randomblob(16));
END;

CREATE TRIGGER tr_handles__facts_gone
AFTER DELETE ON handles
BEGIN
    UPDATE facts_stamp SET stamp = hex(randomblob(16));
END;

CREATE TRIGGER tr_sessions__facts
AFTER UPDATE ON sessions
BEGIN
    UPDATE facts_stamp SET stamp = hex(randomblob(16));
END;

CREATE TRIGGER tr_sessions__facts_gone
AFTER DELETE ON sessions
BEGIN
    UPDATE facts_stamp SET stamp = hex(randomblob(16));
END;

CREATE TRIGGER tr_governance__facts_new
AFTER INSERT ON governance
BEGIN
    UPDATE facts_stamp SET stamp = hex(randomblob(16));
END;

CREATE TRIGGER tr_governance__facts
AFTER UPDATE ON governance
BEGIN
    UPDATE facts_stamp SET stamp = hex(randomblob(16));
END;

CREATE TRIGGER tr_governance__facts_gone
AFTER DELETE ON governance
BEGIN
    UPDATE facts_stamp SET stamp = hex(randomblob(16));
END;

CREATE TRIGGER tr_webhooks__facts_new
AFTER INSERT ON webhooks
BEGIN
    UPDATE facts_stamp SET stamp = hex(randomblob(16));
END;

CREATE TRIGGER tr_webhooks__facts_gone
AFTER DELETE ON webhooks
BEGIN
    UPDATE facts_stamp SET stamp = hex(randomblob(16));
END;

-- The health of an enabled webhook is not a fact.
CREATE TRIGGER tr_webhooks__facts
AFTER UPDATE ON webhooks
WHEN (OLD.api_key_id, OLD.url, OLD.secret, OLD.retiring, OLD.status)
    IS NOT (NEW.api_key_id, NEW.url, NEW.secret, NEW.retiring, NEW.status)
BEGIN
    UPDATE facts_stamp SET stamp = hex(randomblob(16));
END;
