-- Replaces the single version of all facts with a version for each key. SQLite has one write transaction at a time, and
-- needs no locks.

DROP TRIGGER tr_webhooks__facts;
DROP TRIGGER tr_webhooks__facts_gone;
DROP TRIGGER tr_webhooks__facts_new;
DROP TRIGGER tr_governance__facts_gone;
DROP TRIGGER tr_governance__facts;
DROP TRIGGER tr_governance__facts_new;
DROP TRIGGER tr_sessions__facts_gone;
DROP TRIGGER tr_sessions__facts;
DROP TRIGGER tr_handles__facts_gone;
DROP TRIGGER tr_handles__facts;
DROP TRIGGER tr_api_keys__facts_gone;
DROP TRIGGER tr_accounts__facts_gone;
DROP TRIGGER tr_api_keys__facts;
DROP TRIGGER tr_accounts__facts;
DROP TABLE facts_stamp;

-- The version of everything that a node caches about a key: the key, its handle and its webhooks. A key without a row has
-- version 0. A random version prevents that two states share one, even after a crash or a restored backup.
CREATE TABLE facts_versions (
    api_key_id TEXT PRIMARY KEY,
    version INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

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
    INSERT INTO facts_versions (api_key_id, version) VALUES (NEW.id, random())
    ON CONFLICT (api_key_id) DO UPDATE SET version = excluded.version;
END;

CREATE TRIGGER tr_api_keys__facts_gone
AFTER DELETE ON api_keys
BEGIN
    INSERT INTO facts_versions (api_key_id, version) VALUES (OLD.id, random())
    ON CONFLICT (api_key_id) DO UPDATE SET version = excluded.version;
END;

CREATE TRIGGER tr_handles__facts_new
AFTER INSERT ON handles
BEGIN
    INSERT INTO facts_versions (api_key_id, version) VALUES (NEW.api_key_id, random())
    ON CONFLICT (api_key_id) DO UPDATE SET version = excluded.version;
END;

CREATE TRIGGER tr_handles__facts
AFTER UPDATE ON handles
BEGIN
    INSERT INTO facts_versions (api_key_id, version) VALUES (OLD.api_key_id, random())
    ON CONFLICT (api_key_id) DO UPDATE SET version = excluded.version;
    INSERT INTO facts_versions (api_key_id, version) VALUES (NEW.api_key_id, random())
    ON CONFLICT (api_key_id) DO UPDATE SET version = excluded.version;
END;

CREATE TRIGGER tr_handles__facts_gone
AFTER DELETE ON handles
BEGIN
    INSERT INTO facts_versions (api_key_id, version) VALUES (OLD.api_key_id, random())
    ON CONFLICT (api_key_id) DO UPDATE SET version = excluded.version;
END;

CREATE TRIGGER tr_webhooks__facts_new
AFTER INSERT ON webhooks
BEGIN
    INSERT INTO facts_versions (api_key_id, version) VALUES (NEW.api_key_id, random())
    ON CONFLICT (api_key_id) DO UPDATE SET version = excluded.version;
END;

-- The health of an enabled webhook is not a fact.
CREATE TRIGGER tr_webhooks__facts
AFTER UPDATE ON webhooks
WHEN (OLD.api_key_id, OLD.url, OLD.secret, OLD.retiring, OLD.status)
    IS NOT (NEW.api_key_id, NEW.url, NEW.secret, NEW.retiring, NEW.status)
BEGIN
    INSERT INTO facts_versions (api_key_id, version) VALUES (OLD.api_key_id, random())
    ON CONFLICT (api_key_id) DO UPDATE SET version = excluded.version;
    INSERT INTO facts_versions (api_key_id, version) VALUES (NEW.api_key_id, random())
    ON CONFLICT (api_key_id) DO UPDATE SET version = excluded.version;
END;

CREATE TRIGGER tr_webhooks__facts_gone
AFTER DELETE ON webhooks
BEGIN
    INSERT INTO facts_versions (api_key_id, version) VALUES (OLD.api_key_id, random())
    ON CONFLICT (api_key_id) DO UPDATE SET version = excluded.version;
END;

-- Every batch checks for open decisions.
CREATE INDEX ix_governance__subject__open ON governance (subject) WHERE status <> 'lifted';
