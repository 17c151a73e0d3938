DROP TRIGGER tr_webhooks__waiting_events ON webhooks;
DROP TRIGGER tr_webhooks__facts_changed ON webhooks;
CREATE CONSTRAINT TRIGGER tr_webhooks__facts_changed
AFTER UPDATE ON webhooks
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
WHEN (
    (OLD.api_key_id, OLD.url, OLD.secret, OLD.retiring, OLD.status)
    IS DISTINCT FROM (NEW.api_key_id, NEW.url, NEW.secret, NEW.retiring, NEW.status)
)
EXECUTE FUNCTION change_facts_version();
ALTER TABLE webhooks
    DROP COLUMN failing_announced_at,
    DROP COLUMN failed_attempts,
    DROP COLUMN paused,
    DROP COLUMN description;
DELETE FROM additive_migrations WHERE version = '0043';
