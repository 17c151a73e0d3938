-- The owner of a webhook can change its URL, its events and its description, and can pause it. `status` is the service's
-- decision, `paused` the owner's. Servers of earlier versions deliver to a paused webhook while they run.
--
-- `failed_attempts` counts the failed attempts since `failing_since`. `failing_announced_at` is the time of the event
-- `webhook.failing`; the next success clears it.
ALTER TABLE webhooks
    ADD COLUMN description TEXT,
    ADD COLUMN paused BOOLEAN NOT NULL DEFAULT FALSE,
    ADD COLUMN failed_attempts BIGINT NOT NULL DEFAULT 0,
    ADD COLUMN failing_announced_at BIGINT;

-- The facts of sends include the events of a webhook, and whether it is paused.
DROP TRIGGER tr_webhooks__facts_changed ON webhooks;
CREATE CONSTRAINT TRIGGER tr_webhooks__facts_changed
AFTER UPDATE ON webhooks
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
WHEN (
    (OLD.api_key_id, OLD.url, OLD.events, OLD.secret, OLD.retiring, OLD.status, OLD.paused)
    IS DISTINCT FROM
    (NEW.api_key_id, NEW.url, NEW.events, NEW.secret, NEW.retiring, NEW.status, NEW.paused)
)
EXECUTE FUNCTION change_facts_version();

-- An update can make a webhook the first one of its key for received envelopes.
CREATE TRIGGER tr_webhooks__waiting_events
AFTER UPDATE ON webhooks
FOR EACH ROW WHEN (OLD.events IS DISTINCT FROM NEW.events)
EXECUTE FUNCTION transfer_waiting_envelopes();

INSERT INTO additive_migrations (version) VALUES ('0043');
