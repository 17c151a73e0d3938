-- The policies of recipients. A key without a row accepts every sender. The lists hold API keys, separated by commas, because
-- a policy is read and written as a whole.
--
-- Nodes of the previous version keep serving, but do not apply policies.
CREATE TABLE policies (
    api_key_id TEXT COLLATE "C" PRIMARY KEY REFERENCES api_keys (id) DEFERRABLE INITIALLY DEFERRED,
    accept TEXT COLLATE "C" NOT NULL CHECK (accept IN ('allowlist', 'anyone', 'contacts', 'nobody')),
    receipts TEXT COLLATE "C" NOT NULL CHECK (receipts IN ('none', 'notified', 'opened')),
    listed BOOLEAN NOT NULL,
    allowed TEXT COLLATE "C" NOT NULL,
    blocked TEXT COLLATE "C" NOT NULL,
    records_contacts BOOLEAN NOT NULL
);

-- A policy is a fact of its key.
CREATE CONSTRAINT TRIGGER tr_policies__facts
AFTER INSERT OR UPDATE OR DELETE ON policies
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION change_facts_version();
