DROP TRIGGER tr_webhooks__waiting_events;
DROP TRIGGER tr_webhooks__facts;
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
ALTER TABLE webhooks DROP COLUMN failing_announced_at;
ALTER TABLE webhooks DROP COLUMN failed_attempts;
ALTER TABLE webhooks DROP COLUMN paused;
ALTER TABLE webhooks DROP COLUMN description;
DELETE FROM additive_migrations WHERE version = '0043';
