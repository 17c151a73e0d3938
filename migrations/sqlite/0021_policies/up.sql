-- The policies of recipients. A key without a row accepts every sender. The lists hold API keys, separated by commas, because
-- a policy is read and written as a whole.
CREATE TABLE policies (
    api_key_id TEXT NOT NULL PRIMARY KEY REFERENCES api_keys (id) DEFERRABLE INITIALLY DEFERRED,
    accept TEXT NOT NULL CHECK (accept IN ('allowlist', 'anyone', 'contacts', 'nobody')),
    receipts TEXT NOT NULL CHECK (receipts IN ('none', 'notified', 'opened')),
    listed INTEGER NOT NULL CHECK (listed IN (0, 1)),
    allowed TEXT NOT NULL,
    blocked TEXT NOT NULL,
    records_contacts INTEGER NOT NULL CHECK (records_contacts IN (0, 1))
) STRICT;

-- A policy is a fact of its key.
CREATE TRIGGER tr_policies__facts_new
AFTER INSERT ON policies
BEGIN
    INSERT INTO facts_versions (api_key_id, version) VALUES (NEW.api_key_id, random())
    ON CONFLICT (api_key_id) DO UPDATE SET version = excluded.version;
END;

CREATE TRIGGER tr_policies__facts
AFTER UPDATE ON policies
BEGIN
    INSERT INTO facts_versions (api_key_id, version) VALUES (OLD.api_key_id, random())
    ON CONFLICT (api_key_id) DO UPDATE SET version = excluded.version;
    INSERT INTO facts_versions (api_key_id, version) VALUES (NEW.api_key_id, random())
    ON CONFLICT (api_key_id) DO UPDATE SET version = excluded.version;
END;

CREATE TRIGGER tr_policies__facts_gone
AFTER DELETE ON policies
BEGIN
    INSERT INTO facts_versions (api_key_id, version) VALUES (OLD.api_key_id, random())
    ON CONFLICT (api_key_id) DO UPDATE SET version = excluded.version;
END;
