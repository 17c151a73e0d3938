-- The owner of a webhook can change its URL, its events and its description, and can pause it. `status` is the service's
-- decision, `paused` the owner's. Servers of earlier versions deliver to a paused webhook while they run.
--
-- `failed_attempts` counts the failed attempts since `failing_since`. `failing_announced_at` is the time of the event
-- `webhook.failing`; the next success clears it.
ALTER TABLE webhooks ADD COLUMN description TEXT;
ALTER TABLE webhooks ADD COLUMN paused INTEGER NOT NULL DEFAULT 0;
ALTER TABLE webhooks ADD COLUMN failed_attempts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE webhooks ADD COLUMN failing_announced_at INTEGER;

-- The facts of sends include the events of a webhook, and whether it is paused.
DROP TRIGGER tr_webhooks__facts;
CREATE TRIGGER tr_webhooks__facts
AFTER UPDATE ON webhooks
WHEN (OLD.api_key_id, OLD.url, OLD.events, OLD.secret, OLD.retiring, OLD.status, OLD.paused)
    IS NOT (NEW.api_key_id, NEW.url, NEW.events, NEW.secret, NEW.retiring, NEW.status, NEW.paused)
BEGIN
    INSERT INTO facts_versions (api_key_id, version) VALUES (OLD.api_key_id, random())
    ON CONFLICT (api_key_id) DO UPDATE SET version = excluded.version;
    INSERT INTO facts_versions (api_key_id, version) VALUES (NEW.api_key_id, random())
    ON CONFLICT (api_key_id) DO UPDATE SET version = excluded.version;
END;

-- An update can make a webhook the first one of its key for received envelopes.
CREATE TRIGGER tr_webhooks__waiting_events
AFTER UPDATE ON webhooks
WHEN OLD.events IS NOT NEW.events
BEGIN
    INSERT INTO waiting_transfers (api_key_id) VALUES (NEW.api_key_id)
    ON CONFLICT (api_key_id) DO UPDATE SET horizon = NULL;
END;

INSERT INTO additive_migrations (version) VALUES ('0043');
